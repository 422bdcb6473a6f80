import { Readable } from 'node:stream';
import type { Tracer } from '@bindery/telemetry';
import type { Dispatcher } from 'undici';
import { defaultAdmissionLimits, overShare, shareCode } from '../admission.ts';
import { deadlineExceeded } from '../deadline.ts';
import { isProblem, Problem } from '../errors.ts';
import { besideOneAnother, type Tried } from './beside-one-another.ts';
import { type GivingUp, Patience } from './giving-up.ts';
import { Replica, type TransportCall } from './replica.ts';
import type { Answer } from './whole-answer.ts';
import { notHandledHeader, usualWithinMs } from './wire.ts';

export type { TransportCall } from './replica.ts';

export interface TransportOptions {
  /** Addresses of the replicas of one service without a trailing slash, for example `http://content:8080`. At least one. */
  readonly urls: readonly string[];
  /** Shared secret of the instance's services: the one that is sent. */
  readonly token: string;
  /** Longest wait for an answer in ms. Default 30_000. */
  readonly timeoutMs?: number;
  /**
   * Most connections to each replica; further requests wait for one, in the order in which they came. For whom a process takes on
   * is its places' to say, so there are as many connections: with fewer, few callers would fill them and keep all others waiting.
   * Default: as many as a process takes on at once.
   */
  readonly connections?: number;
  /** Most connections for transfers to each replica, beside those. Default: as many as a process takes on at once. */
  readonly transferConnections?: number;
  /** Requests that a replica may owe answers to, of transfers as many; more are refused at once (PITFALLS 48). Default: twice the connections of a kind, at least 1000. */
  readonly mostOwed?: number;
  /** Makes each try a client span, which the service continues. Without one the caller's `traceparent` goes on as it is. */
  readonly tracer?: Tracer;
}

/** Of a transfer the body is a stream. */
export type AnswerTo<C extends TransportCall> = C extends { readonly transfer: true }
  ? Dispatcher.ResponseData
  : Answer;

/** Carries requests to the replicas of a service. */
export interface Transport {
  /**
   * @returns the answer when all of it is there; of a transfer, when its head is
   * @throws Problem `unavailable` when no replica can be reached or has room, or when time is up
   */
  send<C extends TransportCall>(call: C): Promise<AnswerTo<C>>;
  close(): Promise<void>;
}

const leastMostOwed = 1000;
/** What may be asked twice is asked elsewhere too after so long, in ms, where there is another replica. */
const impatientMs = 3_000;

const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const cutOff = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const timedOut = new Set(['TimeoutError', 'BodyTimeoutError']);

const codeOf = (error: unknown): string => String(Object(error).code ?? '');

const failure = (error: unknown, isGivenUp: boolean): Problem => {
  if (isProblem(error)) return error;
  if (isGivenUp || timedOut.has(Object(error).name)) return deadlineExceeded.problem();
  return new Problem('unavailable', 'service.unavailable', 'A service cannot be reached at the moment.', {
    retryAfter: 1,
    cause: error,
  });
};

const busy = (): Problem =>
  new Problem('unavailable', 'service.busy', 'A service has more to do than it can; try again in a moment.', {
    retryAfter: 1,
  });

/** What whoever did not begin says of it. */
const refusedAs = (refusal: string): unknown => {
  if (refusal === 'busy') return busy();
  if (refusal === 'token') return new Error('a replica does not accept the SERVICE_TOKEN');
  return new Error(`a replica did not begin: ${refusal}`);
};

/**
 * Takes the replicas in turn. One that cannot be reached, or says that it did not begin, is passed over, for a moment by other
 * calls as well, unless it is only this caller that it has no place for; what may have been
 * begun is asked again only where that does no harm. Where it does none and the answer is late, another replica is asked
 * beside the first one, and whichever answers first is heard: a replica that is only slow is not given up for one that is gone.
 */
export function createTransport(options: TransportOptions): Transport {
  const { timeoutMs = usualWithinMs, token, tracer } = options;
  const { connections = defaultAdmissionLimits.inFlight, transferConnections = defaultAdmissionLimits.inFlight } =
    options;
  const { mostOwed = Math.max(leastMostOwed, 2 * connections, 2 * transferConnections) } = options;
  const replicas = options.urls.map((url) => new Replica({ url, token, connections, transferConnections, tracer }));
  /** Requests that were asked a second time for want of patience, which must not double the work of a slow service. */
  let asides = 0;
  const mostAsides = mostOwed / 4;
  let turn = 0;

  /** Once round, beginning with the next one; those that failed a moment ago come last. A single address gets a second try. */
  const inTurn = (call: TransportCall): readonly Replica[] => {
    turn = (turn + 1) % replicas.length;
    const now = performance.now();
    const first: Replica[] = [];
    const last: Replica[] = [];
    for (let index = 0; index < replicas.length; index += 1) {
      const one = replicas[(turn + index) % replicas.length];
      if (one !== undefined && one.askedLike(call) < mostOwed) (one.isDoubtful(now) ? last : first).push(one);
    }
    first.push(...last);
    return replicas.length === 1 ? [...first, ...first] : first;
  };

  /**
   * @param until when time is up, by the monotonic clock
   * @param onHead told that its answer is to be heard
   * @throws Problem when no other replica may be asked
   */
  const ask = async (
    replica: Replica,
    call: TransportCall,
    until: number,
    giving: GivingUp,
    onHead?: () => void,
  ): Promise<Tried> => {
    const withinMs = Math.ceil(until - performance.now());
    if (withinMs <= 0 || giving.aborted) throw deadlineExceeded.problem();
    let elsewhere: unknown;
    try {
      const response = await replica.send(call, withinMs, giving, ({ headers }) => {
        if (headers[notHandledHeader] === undefined) onHead?.();
      });
      const refusal = response.headers[notHandledHeader];
      if (refusal === undefined) return { response };
      await response.body.dump();
      // It has room for others.
      if (refusal === 'share') return { elsewhere: overShare() };
      if (refusal === 'ending') replica.leave();
      elsewhere = refusedAs(String(refusal));
    } catch (error) {
      const harmless = call.harmless && !giving.aborted;
      if (!neverSent.has(codeOf(error)) && !(harmless && cutOff.has(codeOf(error))))
        throw failure(error, giving.aborted);
      elsewhere = error;
    }
    replica.avoid();
    return { elsewhere };
  };

  const oneAfterAnother = async (
    call: TransportCall,
    candidates: readonly Replica[],
    until: number,
    giving: GivingUp,
  ): Promise<Tried> => {
    const { body } = call;
    let last: Tried = { elsewhere: undefined };
    /** The one that was asked last and has no more places for this caller: a second try would be one more of them. */
    let overShareOf: Replica | undefined;
    for (const replica of candidates) {
      if (replica === overShareOf) continue;
      last = await ask(replica, call, until, giving);
      if ('response' in last) break;
      overShareOf = isProblem(last.elsewhere) && last.elsewhere.code === shareCode ? replica : undefined;
      if (body !== undefined && typeof body !== 'string') break; // a stream is sent once
    }
    return last;
  };

  const impatiently = async (
    call: TransportCall,
    candidates: readonly Replica[],
    until: number,
    giving: GivingUp,
  ): Promise<Tried> => {
    let mine = 0;
    try {
      return await besideOneAnother({
        candidates,
        giving,
        patienceMs: impatientMs,
        ask: (replica, own, onHead) => ask(replica, call, until, own, onHead),
        onSlow(replica) {
          replica.avoid();
          if (asides >= mostAsides) return false;
          mine += 1;
          asides += 1;
          return true;
        },
      });
    } finally {
      asides -= mine;
    }
  };

  const send = async (call: TransportCall): Promise<Answer> => {
    const { signal, timeoutMs: withinMs = timeoutMs } = call;
    const candidates = inTurn(call);
    if (candidates.length === 0) throw busy();
    if (signal.aborted) throw deadlineExceeded.problem();
    const several = replicas.length > 1 && candidates.length > 1;
    const ways = call.harmless && several && withinMs > impatientMs ? impatiently : oneAfterAnother;
    const patience = new Patience(signal, withinMs);
    try {
      const tried = await ways(call, candidates, performance.now() + withinMs, patience.giving);
      if (!('response' in tried)) throw failure(tried.elsewhere, signal.aborted);
      const { body } = tried.response;
      if (!(body instanceof Readable)) patience.end();
      else {
        patience.forEver();
        body.once('close', () => patience.end());
      }
      return tried.response;
    } catch (error) {
      patience.end();
      throw error;
    }
  };

  return {
    // What a transfer is answered with is a stream: its body is that of the library.
    send: <C extends TransportCall>(call: C) => send(call) as Promise<AnswerTo<C>>,
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}
