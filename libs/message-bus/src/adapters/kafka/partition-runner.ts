import { setImmediate as nextTurn } from 'node:timers/promises';
import { shortened } from '../../dead-letters.ts';
import { partitionOf } from '../../partitioner.ts';
import { type Handling, handleRecord } from './handling.ts';
import type { StoredRecord } from './messages.ts';
import type { ParkedState, WantedRelease } from './parked-keys.ts';
import { LettersUnread, type Parking, type ToPark } from './parking.ts';
import { backOff, pause } from './within.ts';

/** What a partition may hold in memory before no more is fetched for it. */
const ENOUGH_MESSAGES = 500;
const ENOUGH_BYTES = 4 * 1024 * 1024;
/** Followers of parked keys that are parked together, and releases that are noted together. */
const TOGETHER = 100;
const TROUBLE_PAUSE_MS = 250;
/** The longest until a release whose dead letters cannot be read is tried again. */
const MAX_HOLD_MS = 10_000;

export interface RunnerParts {
  readonly topic: string;
  readonly partition: number;
  /** Partitions of the topic. */
  readonly partitions: number;
  /** First offset to handle. */
  readonly start: bigint;
  readonly handling: Handling;
  readonly parking: Parking;
  /** Everything before this offset is done. */
  readonly onHandled: (next: bigint) => void;
  /** There is room again. */
  readonly onRoom: () => void;
  /** Resolves when this member may work: its last heartbeat is not too long ago. */
  readonly mayWork: (signal: AbortSignal) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}

/** What becomes of a message that is given up. */
const done = { kind: 'done' } as const;

type Item = { readonly next: bigint; readonly stored: StoredRecord | undefined };

const bytesOf = ({ stored }: Item): number => stored?.record.value?.byteLength ?? 0;

/** Works through one partition, one message at a time; other partitions do not wait for it, nor do heartbeats. */
export class PartitionRunner {
  /** Resolves when the runner has ended. Never rejects. */
  readonly done: Promise<void>;
  readonly #parts: RunnerParts;
  readonly #queue: Item[] = [];
  readonly #stop = new AbortController();
  readonly #abort = new AbortController();
  #bytes = 0;
  #fetched: bigint;
  #full = false;
  /** Keys whose release has failed, how often, and when it is tried again (`performance.now`): others go on meanwhile. */
  readonly #held = new Map<string, { readonly failures: number; readonly until: number }>();
  #woken = Promise.withResolvers<void>();

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#fetched = parts.start;
    this.done = this.#run();
  }

  /** Takes records that follow those before. @returns whether more may be fetched */
  push(records: readonly StoredRecord[], next: bigint): boolean {
    const fresh = records.filter(({ offset }) => offset >= this.#fetched);
    for (const [index, stored] of fresh.entries()) {
      // What lies behind the last one (the protocol's own records) is done with it.
      const item = { stored, next: index === fresh.length - 1 ? next : stored.offset + 1n };
      this.#queue.push(item);
      this.#bytes += bytesOf(item);
    }
    if (fresh.length === 0 && next > this.#fetched) this.#queue.push({ stored: undefined, next });
    if (next > this.#fetched) this.#fetched = next;
    this.#full = this.#queue.length >= ENOUGH_MESSAGES || this.#bytes >= ENOUGH_BYTES;
    this.wake();
    return !this.#full;
  }

  /** Looks whether there is something to do: a key may be wanted back. */
  wake(): void {
    this.#woken.resolve();
    this.#woken = Promise.withResolvers<void>();
  }

  /** Ends after the message in hand. */
  stop(): void {
    this.#stop.abort();
    this.wake();
  }

  /** Ends now: the handler is told through its signal. */
  abort(): void {
    this.stop();
    this.#abort.abort();
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#step();
      } catch (error) {
        this.#parts.onTrouble(error);
        await pause(TROUBLE_PAUSE_MS, this.#stop.signal);
      }
    }
  }

  async #step(): Promise<void> {
    const { mayWork } = this.#parts;
    const woken = this.#woken.promise;
    const wanted = this.#nextRelease();
    const item = this.#queue[0];
    if (wanted === undefined && item === undefined) {
      await woken;
      return;
    }
    await mayWork(this.#stop.signal);
    if (this.#stopped) return;
    if (wanted !== undefined) await this.#release(wanted);
    else if (item !== undefined) await this.#take(item);
    await nextTurn(); // handlers may never leave the microtask queue: let others run
  }

  async #take(item: Item): Promise<void> {
    const { stored } = item;
    if (stored === undefined) return this.#handled([item]);
    const { parking, handling } = this.#parts;
    if (parking.isParked(stored)) return this.#parkFollowers();
    const outcome = await handleRecord(stored, handling, { stop: this.#stop.signal, abort: this.#abort.signal });
    if (outcome.kind === 'stopped') return;
    if (outcome.kind === 'park') await this.#park([{ stored, reason: outcome.reason, attempts: outcome.attempts }]);
    this.#handled([item]);
  }

  /** Parks what is next in line and belongs to parked keys, as far as it goes. */
  async #parkFollowers(): Promise<void> {
    const { parking } = this.#parts;
    const items: Item[] = [];
    const letters: ToPark[] = [];
    for (const item of this.#queue.slice(0, TOGETHER)) {
      if (item.stored === undefined || !parking.isParked(item.stored)) break;
      items.push(item);
      letters.push({ stored: item.stored, reason: 'waits behind an earlier message of its key', attempts: 0 });
    }
    await this.#park(letters);
    this.#handled(items);
  }

  /** Until it is parked nothing else happens here; whatever the handler did, it is not asked again. */
  async #park(letters: readonly ToPark[]): Promise<void> {
    for (;;) {
      try {
        await this.#parts.parking.park(letters);
        return;
      } catch (error) {
        if (this.#stopped) throw error;
        this.#parts.onTrouble(error);
        await pause(TROUBLE_PAUSE_MS, this.#stop.signal);
      }
    }
  }

  #handled(items: readonly Item[]): void {
    this.#queue.splice(0, items.length);
    for (const item of items) this.#bytes -= bytesOf(item);
    const last = items.at(-1);
    if (last !== undefined) this.#parts.onHandled(last.next);
    if (this.#full && this.#queue.length < ENOUGH_MESSAGES / 2 && this.#bytes < ENOUGH_BYTES / 2) {
      this.#full = false;
      this.#parts.onRoom();
    }
  }

  #nextRelease(): WantedRelease | undefined {
    const { topic, partition, partitions, parking } = this.#parts;
    const { keys } = parking;
    return keys
      .releases()
      .find(
        ({ topic: of, key }) =>
          of === topic &&
          partition === (keys.get(of, key)?.partition ?? partitionOf(key, partitions)) &&
          (this.#held.get(key)?.until ?? 0) <= performance.now(),
      );
  }

  /**
   * Releases a key, or forgets it. When its dead letters cannot be read it is tried again later, and when they are missing it is over:
   * the key stays parked, the others go on.
   */
  async #release(wanted: WantedRelease): Promise<void> {
    const { topic, key } = wanted;
    const { keys } = this.#parts.parking;
    const state = keys.get(topic, key);
    if (state === undefined) return keys.endRelease(topic, key);
    const progress = { left: state };
    try {
      if (wanted.forget === true) {
        await this.#parts.parking.lettersOf(state).next();
        return keys.endRelease(topic, key); // some have come: that was not asked for
      }
      await this.#handOut(wanted, progress);
      this.#held.delete(key);
    } catch (error) {
      if (!(error instanceof LettersUnread)) throw error;
      if (wanted.forget === true && error.missing) return keys.remove(topic, key);
      this.#parts.onTrouble(error);
      if (progress.left !== state) await keys.put([progress.left]);
      if (!error.missing) return this.#hold(key);
      this.#held.delete(key);
      await keys.endRelease(topic, key);
    }
  }

  #hold(key: string): void {
    const failures = (this.#held.get(key)?.failures ?? 0) + 1;
    const ms = backOff(TROUBLE_PAUSE_MS, MAX_HOLD_MS, failures, this.#parts.handling.random);
    this.#held.set(key, { failures, until: performance.now() + ms });
    pause(ms + 1, this.#stop.signal).then(() => this.wake());
  }

  /** Hands the parked messages of a key to the handler, oldest first; new ones of the key wait in line meanwhile. */
  async #handOut({ topic, key, discard }: WantedRelease, progress: { left: ParkedState }): Promise<void> {
    const { keys } = this.#parts.parking;
    const state = progress.left;
    let noted = state.messages;
    for await (const { original, offset } of this.#parts.parking.lettersOf(state)) {
      const remains: ParkedState = { ...progress.left, from: String(offset) };
      if (this.#stopped) return keys.put([remains]);
      if (noted - progress.left.messages >= TOGETHER) {
        await keys.put([remains]);
        noted = progress.left.messages;
      }
      const signals = { stop: this.#stop.signal, abort: this.#abort.signal };
      const given = String(original.offset) === discard;
      const outcome = given ? done : await handleRecord(original, this.#parts.handling, signals);
      if (outcome.kind === 'stopped') return keys.put([remains]);
      if (outcome.kind === 'park') {
        const { reason, attempts } = outcome;
        await keys.put([{ ...remains, reason: shortened(reason), attempts: remains.attempts + attempts }]);
        return keys.endRelease(topic, key);
      }
      progress.left = { ...remains, from: String(offset + 1n), messages: remains.messages - 1, attempts: 0 };
    }
    await keys.remove(topic, key);
  }
}
