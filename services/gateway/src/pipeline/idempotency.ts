import { hash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cache } from '@bindery/cache';
import { limits } from '@bindery/contracts';
import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import { type Clock, conflict, invalid } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { AnswerSeal } from './sealed-answers.ts';
import { standsAsBefore } from './standing.ts';

/** An answer as it was sent, kept for repeats. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What is stored about one key. ISO times are compared as text. */
interface KeyRecord {
  readonly fingerprint: string;
  /** Seed of the ids, so that a repeat after a crash makes the same ones. */
  readonly seed: string;
  /** Until when the first request is given time, by the clock of its process; a repeat after that takes over. Null when it is answered. */
  readonly leasedUntil: string | null;
  /** The process that does the work. */
  readonly holder: string;
  /** It tells the cache that it is there. Absent: it is of a release that did not, and not being heard of says nothing. */
  readonly tells?: true;
  readonly expiresAt: string;
  readonly answer: KeptAnswer | null;
  /** What the caller's rights came from when it was answered. */
  readonly standing: readonly string[];
}

const spec: CollectionSpec = {
  name: 'gateway.idempotency',
  version: 1,
  indexes: [{ name: 'expires', fields: ['expiresAt'] }],
};

export interface IdempotencyRequest {
  /** From the header. */
  readonly key: string;
  readonly principalId: string;
  readonly operationId: string;
  /** Hash of everything that must be equal for a repeat to be a repeat. */
  readonly fingerprint: string;
  /** What the caller's rights come from. A caller that lost any of it gets no kept answer: the work decides anew. */
  readonly standing: readonly string[];
  /** Throws when the caller may not see a kept answer any more. */
  readonly mayReplay: () => Promise<void>;
  /** How long the work may take, in ms. */
  readonly leaseMs: number;
  /** Of operations whose answer carries a secret: the body is stored sealed. */
  readonly seal?: AnswerSeal;
}

export interface Idempotency {
  /**
   * Does the work once per key. A repeat gets the kept answer; one that comes while the first is at work waits for it.
   * Work that throws keeps nothing: the next repeat does it again, with the same ids.
   * @throws Problem 409 for the same key with another request, or when the first one is still at work after the wait
   */
  run(
    request: IdempotencyRequest,
    work: (seed: string) => Promise<KeptAnswer>,
  ): Promise<{ readonly answer: KeptAnswer; readonly replayed: boolean }>;
  /** Forgets answers that name a resource, and leaves nothing of them in the files; a repeat does its work again. */
  forget(id: string): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const acceptableKey = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** The key of a request. @throws Problem 400 */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const { maxLength } = limits.idempotencyKey;
  if (typeof header === 'string' && header.length <= maxLength && acceptableKey.test(header)) return header;
  throw invalid(
    'idempotency_key.malformed',
    `Idempotency-Key: must be sent once, with 1 to ${maxLength} printable ASCII characters`,
  );
}

/** Hash of a request: method, target and body as they came. */
export const fingerprintOf = (method: string, url: string, body: Buffer | undefined): string =>
  hash('sha256', Buffer.concat([Buffer.from(`${method} ${url}\n`), body ?? Buffer.alloc(0)]), 'base64url');

const withBody = (answer: KeptAnswer, change: ((body: string) => string) | undefined): KeptAnswer =>
  answer.body === undefined || change === undefined ? answer : { ...answer, body: change(answer.body) };

const retentionMs = limits.idempotencyKey.retentionHours * 3_600_000;
const pollMs = 50;
const sweepMs = 600_000;
const sweepBatch = 1000;
/** More than the clocks of two machines differ, in ms: who is at work by another clock is believed so much longer (PITFALLS 40). */
const clockSkewMs = 120_000;
/** How often a process tells the cache that it is there, and how long that is known there, in ms. */
const tellEveryMs = 3_000;
const presenceMs = 10_000;
/** A process that is looked for so long, in ms, and not there, is gone: also a cache that lost everything would know of it again. */
const goneMs = 4_000;
const presenceKey = (holder: string): string => `gateway:present:${holder}`;
/** Keys of other processes that are watched at the same time; beyond that the oldest is seen anew. */
const mostWatched = 10_000;

export function createIdempotency(options: {
  readonly store: ReadStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where processes tell that they are there; its server's clock is the only one that counts. */
  readonly cache: Pick<Cache, 'get' | 'set'>;
  /** How long a repeat waits for the first request, in ms. */
  readonly waitMs: number;
  /** No other process uses the store: what another one began has died with it. */
  readonly sole: boolean;
}): Idempotency {
  const { store, cache, clock, logger, waitMs, sole } = options;
  const holder = randomUUID();
  let opened: Promise<Collection<KeyRecord>> | undefined;
  let sweeper: NodeJS.Timeout | undefined;
  let herald: NodeJS.Timeout | undefined;
  const collection = (): Promise<Collection<KeyRecord>> => {
    opened ??= store.collection<KeyRecord>(spec).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  /** What other processes are at: since when this one sees it, and when it last heard of them, by the monotonic clock. */
  const watched = new Map<string, { readonly revision: number; readonly since: number; heardAt: number }>();
  const iso = (afterMs: number): string => new Date(clock.now().getTime() + afterMs).toISOString();

  const tellOfMyself = (): Promise<void> =>
    cache.set(presenceKey(holder), true, { ttlMs: presenceMs }).catch((error: unknown) => {
      // Repeats of what this process is at wait their full time then, should it end.
      logger.debug('the cache is not told that this process is there', { error });
    });
  /** Without the cache nobody is known to be gone, and of those that never tell it, nobody ever. */
  const isThere = async ({ holder: other, tells }: KeyRecord): Promise<boolean> => {
    if (tells !== true) return true;
    try {
      return (await cache.get<boolean>(presenceKey(other))) === true;
    } catch {
      return true;
    }
  };

  const watch = (id: string, revision: number) => {
    const seen = watched.get(id);
    if (seen?.revision === revision) return seen;
    if (watched.size >= mostWatched) watched.delete(watched.keys().next().value ?? '');
    const now = performance.now();
    const first = { revision, since: now, heardAt: now };
    watched.set(id, first);
    return first;
  };

  /**
   * Whether the process that took a key may still be at work. The clock of another one may be wrong, so it is given the whole
   * time from when it was first seen here, or much more than that by the clocks; less when it is not there any more.
   */
  const isAtWork = async (id: string, revision: number, record: KeyRecord, leaseMs: number): Promise<boolean> => {
    const { holder: by, leasedUntil } = record;
    if (leasedUntil === null) return false;
    if (by === holder) return leasedUntil > iso(0);
    if (sole || leasedUntil <= iso(-clockSkewMs)) return false;
    const seen = watch(id, revision);
    if (await isThere(record)) seen.heardAt = performance.now();
    const now = performance.now();
    return now - seen.since < leaseMs && now - seen.heardAt < goneMs;
  };

  /** The right to do the work, or the answer of the one who had it. Undefined: somebody is at it. */
  const claim = async (
    keys: Collection<KeyRecord>,
    id: string,
    request: IdempotencyRequest,
  ): Promise<{ readonly seed: string; readonly revision: number } | { readonly answer: KeptAnswer } | undefined> => {
    const known = await keys.get(id);
    const current = known && known.document.expiresAt > iso(0) ? known.document : undefined;
    if (current && current.fingerprint !== request.fingerprint) {
      throw conflict('idempotency_key.reused', 'Idempotency-Key: was used before with another request');
    }
    if (current?.answer && standsAsBefore(current.standing, request.standing)) return { answer: current.answer };
    if (known && current && (await isAtWork(id, known.revision, current, request.leaseMs))) return undefined;
    watched.delete(id);
    const record: KeyRecord = {
      fingerprint: request.fingerprint,
      seed: current?.seed ?? randomBytes(24).toString('base64url'),
      leasedUntil: iso(request.leaseMs),
      holder,
      tells: true,
      expiresAt: iso(retentionMs),
      answer: null,
      standing: request.standing,
    };
    const expected = known?.revision ?? -1;
    return (await keys.compareAndPut(id, expected, record)) ? { seed: record.seed, revision: expected + 1 } : undefined;
  };

  const claimOrWait = async (keys: Collection<KeyRecord>, id: string, request: IdempotencyRequest) => {
    const until = performance.now() + waitMs;
    for (;;) {
      const claimed = await claim(keys, id, request);
      if (claimed) return claimed;
      if (performance.now() >= until) {
        throw conflict('idempotency_key.in_use', 'Idempotency-Key: the first request with it is still being handled');
      }
      await delay(pollMs);
    }
  };

  return {
    async run(request, work) {
      const keys = await collection();
      const id = hash('sha256', JSON.stringify([request.principalId, request.operationId, request.key]), 'hex');
      const claimed = await claimOrWait(keys, id, request);
      if ('answer' in claimed) {
        await request.mayReplay();
        return { answer: withBody(claimed.answer, request.seal?.open), replayed: true };
      }
      const { seed, revision } = claimed;
      const settle = async (plain: KeptAnswer | null): Promise<void> => {
        const { fingerprint, standing } = request;
        const answer = plain && withBody(plain, request.seal?.seal);
        const record = { fingerprint, seed, holder, leasedUntil: null, expiresAt: iso(retentionMs), answer, standing };
        try {
          const kept = await keys.compareAndPut(id, revision, record);
          if (!kept)
            logger.warn('an idempotent request took longer than its lease', { operation: request.operationId });
        } catch (error) {
          // The work is done and its answer is owed; a repeat will do it again with the same ids when the lease ends.
          logger.warn('the outcome of an idempotent request is not kept', { error });
        }
      };
      let answer: KeptAnswer;
      try {
        answer = await work(seed);
      } catch (error) {
        await settle(null);
        throw error;
      }
      await settle(answer.status >= 500 ? null : answer);
      return { answer, replayed: false };
    },
    async forget(named) {
      const keys = await collection();
      for await (const { id, revision, document } of keys.scan()) {
        if (document.answer?.body?.includes(named) !== true) continue;
        // Another writer in between is a repeat that has just done the work anew, without what was erased.
        await keys.compareAndPut(id, revision, { ...document, answer: null, leasedUntil: null });
      }
      await store.scrub();
    },
    async start() {
      await collection();
      if (!sole) {
        await tellOfMyself();
        herald = setInterval(() => void tellOfMyself(), tellEveryMs);
        herald.unref();
      }
      const sweep = async (): Promise<void> => {
        const keys = await collection();
        while ((await keys.purge({ expiresAt: { lt: iso(0) } }, sweepBatch)) === sweepBatch);
      };
      sweeper = setInterval(() => {
        sweep().catch((error: unknown) => logger.warn('expired idempotency keys are not removed', { error }));
      }, sweepMs);
      sweeper.unref();
    },
    async stop() {
      clearInterval(sweeper);
      clearInterval(herald);
    },
  };
}
