import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { BusMessage, Handled } from '../../port.ts';
import { type BusContext, partitionKey, plainWrite, releaseKey, topicKey } from './context.ts';
import { type Lease, LeaseLost } from './groups.ts';
import { type StoredMessage, type Topic, toBusMessage } from './log.ts';

/** How a group treats its messages. */
export interface Handling {
  readonly group: string;
  readonly deadLetters: Topic;
  readonly handle: (message: BusMessage, signal: AbortSignal) => Promise<Handled>;
  readonly maxAttempts: number;
  readonly backoffMs: number;
}

type Outcome =
  | { readonly kind: 'done' | 'stopped' }
  | { readonly kind: 'park'; readonly reason: string; readonly attempts: number };

const MAX_BACKOFF_MS = 30_000;
const BATCH = 64;
const BATCH_BYTES = 4 * 1024 * 1024;
const TROUBLE_PAUSE_MS = 250;

/** Works through one partition, one message at a time, from the committed offset on. */
export class PartitionRunner {
  readonly lease: Lease;
  /** Resolves when the runner has ended and its offset is stored. Never rejects. */
  readonly done: Promise<void>;
  readonly #context: BusContext;
  readonly #topic: Topic;
  readonly #handling: Handling;
  readonly #stop = new AbortController();
  readonly #abort = new AbortController();
  #position: number;
  #committed: number;
  #committing: Promise<void> | undefined;
  #batch = 16;

  constructor(
    context: BusContext,
    topic: Topic,
    handling: Handling,
    start: { readonly lease: Lease; readonly nextOffset: number },
  ) {
    this.#context = context;
    this.#topic = topic;
    this.#handling = handling;
    this.lease = start.lease;
    this.#position = start.nextOffset;
    this.#committed = start.nextOffset;
    this.done = this.#run();
  }

  /** Ends after the message in hand. */
  stop(): void {
    this.#stop.abort();
  }

  /** Ends now: the handler is told through its signal. For a lost lease or a stop that takes too long. */
  abort(): void {
    this.#stop.abort();
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
        await this.#trouble(error);
      }
    }
    await this.#committing;
    if (this.#committed < this.#position && !this.#abort.signal.aborted) await this.#commit();
  }

  async #step(): Promise<void> {
    const { changes, log, parking } = this.#context;
    const { groupId, topicId, partition } = this.lease;
    const released = changes.mark(releaseKey(groupId, topicId, partition));
    const mark = [...changes.mark(partitionKey(topicId, partition)), ...released];
    const key = parking.nextReleasing(this.lease);
    if (key !== undefined) return this.#replay(key);
    const batch = log.fetch(topicId, partition, this.#position, this.#batch);
    const largest = batch.reduce((most, message) => Math.max(most, message.bytes), 1);
    this.#batch = Math.max(1, Math.min(BATCH, Math.floor(BATCH_BYTES / largest)));
    for (const message of batch) {
      if (this.#stopped || !changes.isCurrent(released)) return;
      await this.#take(message);
    }
    if (batch.length === 0) await changes.changedSince(mark, this.#stop.signal);
    else await nextTurn(); // handlers may never leave the microtask queue: let others run
  }

  async #take(message: StoredMessage): Promise<void> {
    if (this.#context.parking.isParked(this.lease, message.key)) {
      await this.#park(message, 'waits behind an earlier message of its key', 0);
      return;
    }
    const outcome = await this.#handle(message);
    if (outcome.kind === 'park') await this.#park(message, outcome.reason, outcome.attempts);
    if (outcome.kind !== 'done') return;
    this.#position = message.offset + 1;
    this.#committing ??= this.#commit().finally(() => {
      this.#committing = undefined;
    });
  }

  /** Dead letter, parked key and offset in one transaction. */
  async #park(message: StoredMessage, reason: string, attempts: number): Promise<void> {
    const { commits, changes, groups, parking } = this.#context;
    const { deadLetters } = this.#handling;
    const next = message.offset + 1;
    const partition = await commits.submit({
      bytes: message.bytes,
      check: () => groups.mustHold(this.lease),
      write: () => {
        groups.commit(this.lease, next);
        return parking.park(this.lease, this.#topic, deadLetters, message, reason, attempts);
      },
    });
    this.#position = next;
    this.#committed = next;
    changes.notify(topicKey(deadLetters.id), partitionKey(deadLetters.id, partition));
  }

  /** Hands the parked messages of a key to the handler, oldest first; new ones of the key wait in the log meanwhile. */
  async #replay(key: string): Promise<void> {
    const { commits, changes, groups, parking } = this.#context;
    const { groupId, topicId, partition } = this.lease;
    const hold = (): void => groups.mustHold(this.lease);
    for (;;) {
      const message = parking.firstParked(this.lease, key);
      if (!message) break;
      const outcome = await this.#handle(message);
      if (outcome.kind === 'stopped') return;
      if (outcome.kind === 'park') {
        await commits.submit(
          plainWrite(() => parking.parkAgain(this.lease, key, outcome.reason, outcome.attempts), hold),
        );
        changes.notify(releaseKey(groupId, topicId, partition));
        return;
      }
      await commits.submit(plainWrite(() => parking.removeMessage(this.lease, key, message.offset), hold));
      if (this.#stopped) return;
    }
    const isFree = await commits.submit(plainWrite(() => parking.finish(this.lease, key), hold));
    if (!isFree) {
      const { group, deadLetters } = this.#handling;
      const error = new Error(`dead letters of a key of ${this.#topic.name} are missing in ${deadLetters.name}`);
      this.#context.onProblem({ kind: 'consumer', group, error });
    }
    changes.notify(releaseKey(groupId, topicId, partition));
  }

  async #handle(stored: StoredMessage): Promise<Outcome> {
    let message: BusMessage;
    try {
      message = toBusMessage(this.#topic.name, stored);
    } catch (error) {
      return { kind: 'park', reason: `cannot be read: ${String(error)}`, attempts: 0 };
    }
    const { maxAttempts } = this.#handling;
    for (let attempts = 1; ; attempts += 1) {
      const handled = await this.#attempt(message);
      if (handled.kind === 'done') return handled;
      const { reason } = handled;
      if (handled.kind === 'park') return { kind: 'park', reason, attempts };
      if (this.#stopped) return { kind: 'stopped' };
      if (attempts >= maxAttempts)
        return { kind: 'park', reason: `gave up after ${attempts} attempts: ${reason}`, attempts };
      await this.#backOff(attempts);
      if (this.#stopped) return { kind: 'stopped' };
    }
  }

  async #attempt(message: BusMessage): Promise<Handled> {
    try {
      return await this.#handling.handle(message, this.#abort.signal);
    } catch (error) {
      return { kind: 'retry', reason: String(error) };
    }
  }

  /** Exponential, between half and one and a half of the step so that members do not retry in step. */
  #backOff(attempts: number): Promise<void> {
    const step = this.#handling.backoffMs * 2 ** (attempts - 1);
    return this.#pause(Math.min(MAX_BACKOFF_MS, step * (0.5 + this.#context.random())));
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined); // only an abort rejects
  }

  /** Stores the position, and again while messages are handled meanwhile: at most one commit is under way. */
  async #commit(): Promise<void> {
    const { commits, groups } = this.#context;
    try {
      while (this.#committed < this.#position) {
        const next = this.#position;
        await commits.submit(
          plainWrite(
            () => groups.commit(this.lease, next),
            () => groups.mustHold(this.lease),
          ),
        );
        this.#committed = next;
      }
    } catch (error) {
      await this.#trouble(error); // the next handled message tries again
    }
  }

  async #trouble(error: unknown): Promise<void> {
    if (error instanceof LeaseLost) this.abort();
    this.#context.onProblem({ kind: 'consumer', group: this.#handling.group, error });
    await this.#pause(TROUBLE_PAUSE_MS);
  }
}
