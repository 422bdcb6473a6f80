import { conflict, Problem } from './errors.ts';

/** A key of a consumer group that waits because one of its messages could not be handled. */
export interface ParkedKeyId {
  readonly group: string;
  readonly topic: string;
  readonly key: string;
}

/** What is known of a parked key. */
export interface WaitingKey extends ParkedKeyId {
  /** Why the first letter is here. */
  readonly reason: string;
  /** How often the first letter was tried, all releases together. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly since: string;
  /** Letters that wait. */
  readonly letters: number;
  /** A release was asked for and has not come to its end. */
  readonly releasing: boolean;
}

/** A message that waits. */
export interface WaitingLetter {
  readonly partition: number;
  readonly offset: string;
  readonly reason: string;
  /** 0 for one that only waits behind an earlier one. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly parkedAt: string;
  readonly bytes: number;
  /** The event, where it is one that the service's catalogue knows: those hold no secrets. */
  readonly event?: object;
}

/** A stream of a process manager. */
export interface ParkedStreamId {
  readonly reactor: string;
  readonly stream: string;
}

/** A stream that waits because one of its events could not be followed up. */
export interface WaitingStream extends ParkedStreamId {
  readonly reason: string;
  /** How often its first event was tried. */
  readonly attempts: number;
  /** ISO 8601: the first failure of that event. */
  readonly since: string;
  /** Of that event in the stream. */
  readonly revision: number;
}

/** What waits in one service because it could not be handled, and how it goes on. Any replica may be asked. */
export interface ParkedWork {
  /**
   * Parked keys in the order of group, topic and key.
   * @returns also all groups of the service, whether or not something waits there
   */
  keys(query: {
    readonly group?: string;
    readonly topic?: string;
    readonly key?: string;
    readonly after?: ParkedKeyId;
    /** 1 to 1,001. */
    readonly limit: number;
  }): Promise<{ readonly groups: readonly string[]; readonly keys: readonly WaitingKey[] }>;
  /**
   * Letters of a key, oldest first; none when it is not parked.
   * @param query `limit` 1 to 100; `after` a `next` of before
   * @throws Problem 400 for another `after`
   */
  letters(
    query: ParkedKeyId & { readonly after?: string; readonly limit: number },
  ): Promise<{ readonly letters: readonly WaitingLetter[]; readonly next?: string }>;
  /**
   * Has a key handed to its consumer again, and waits for the end of that, but not longer than `waitMs`: it goes on
   * without being waited for, also after a restart. @returns what is parked then, null when the key is free
   */
  release(query: ParkedKeyId & { readonly waitMs: number }): Promise<WaitingKey | null>;
  /**
   * Gives up the oldest letter of a key, and has those behind it handed to the consumer again; waits like `release`.
   * @param query `offset` of that letter @returns what is parked then, null when the key is free
   * @throws Problem 404 when it is not parked, 409 when that is not its oldest letter or a release is under way
   */
  discard(query: ParkedKeyId & { readonly offset: string; readonly waitMs: number }): Promise<WaitingKey | null>;
  /**
   * Forgets a key whose letters are gone, all of them: what comes from now on is handled again. Waits like `release`.
   * @returns what is parked then, null when the key is free
   * @throws Problem 404 when it is not parked, 409 when it has letters or a release is under way
   */
  forget(query: ParkedKeyId & { readonly waitMs: number }): Promise<WaitingKey | null>;
  /** Parked streams in the order of the text `reactor:stream`, by code point; `after` is a place in that order. */
  streams(query: {
    readonly reactor?: string;
    readonly stream?: string;
    readonly after?: ParkedStreamId;
    readonly limit: number;
  }): Promise<readonly WaitingStream[]>;
  /** Has a stream tried again now; waits like `release`. @returns what is parked then, null when the stream is free */
  retry(query: ParkedStreamId & { readonly waitMs: number }): Promise<WaitingStream | null>;
}

type Calls = Readonly<Record<string, (work: ParkedWork, query: never) => Promise<unknown>>>;

/** Names under which a service's process answers for its {@link ParkedWork}. */
const calls = {
  'parked-keys': (work, query: Parameters<ParkedWork['keys']>[0]) => work.keys(query),
  'dead-letters': (work, query: Parameters<ParkedWork['letters']>[0]) => work.letters(query),
  'release-key': (work, query: Parameters<ParkedWork['release']>[0]) => work.release(query),
  'discard-letter': (work, query: Parameters<ParkedWork['discard']>[0]) => work.discard(query),
  'forget-key': (work, query: Parameters<ParkedWork['forget']>[0]) => work.forget(query),
  'parked-streams': (work, query: Parameters<ParkedWork['streams']>[0]) => work.streams(query),
  'retry-stream': (work, query: Parameters<ParkedWork['retry']>[0]) => work.retry(query),
} satisfies Calls;

/** Whether a name is one of {@link askParkedWork}. */
export const isParkedCall = (name: string): boolean => Object.hasOwn(calls, name);

/** Answers a call that another process of the same release sent. @throws Problem */
export const askParkedWork = (work: ParkedWork | undefined, name: string, query: unknown): Promise<unknown> => {
  const call = (calls as Calls)[name];
  if (work === undefined) throw new Problem('not-found', 'parked_work.none', 'Nothing can wait in this process.');
  if (call === undefined) throw new Problem('not-found', 'internal.path', 'No such internal path.');
  // The other end is the same release: what it sends has this shape.
  return call(work, query as never);
};

/** The parked work of a service in another process. @param ask sends a call by its name and gives the answer */
export const remoteParkedWork = (ask: (name: string, query: object) => Promise<unknown>): ParkedWork => ({
  // As above.
  keys: async (query) => (await ask('parked-keys', query)) as Awaited<ReturnType<ParkedWork['keys']>>,
  letters: async (query) => (await ask('dead-letters', query)) as Awaited<ReturnType<ParkedWork['letters']>>,
  release: async (query) => (await ask('release-key', query)) as Awaited<ReturnType<ParkedWork['release']>>,
  discard: async (query) => (await ask('discard-letter', query)) as Awaited<ReturnType<ParkedWork['discard']>>,
  forget: async (query) => (await ask('forget-key', query)) as Awaited<ReturnType<ParkedWork['forget']>>,
  streams: async (query) => (await ask('parked-streams', query)) as Awaited<ReturnType<ParkedWork['streams']>>,
  retry: async (query) => (await ask('retry-stream', query)) as Awaited<ReturnType<ParkedWork['retry']>>,
});

/** Why a key is not forgotten, as everybody who is asked for it tells. */
export const notForgotten = (): Problem =>
  conflict(
    'parked_key.has_letters',
    'A key can be forgotten when none of its messages is left and it is not being released; release them or discard them first.',
  );
