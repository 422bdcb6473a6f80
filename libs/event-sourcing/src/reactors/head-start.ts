import type { Position, RecordedEvent } from '@bindery/event-store';
import { pause } from '../shared/loop.ts';

/** Events that wait at once; reading goes on when there is room again. */
const MAX_HELD = 1000;

interface Held {
  readonly event: RecordedEvent;
  /** Everything up to here is done, or waits before this one. */
  readonly before: Position;
  /** By `performance.now()`. */
  readonly since: number;
}

/**
 * Events of a reactor that others are given time to settle, in the order of the log. Whoever began usually finishes a moment
 * later, which the log tells; what nobody has settled in time is due.
 */
export class HeadStart {
  readonly #ms: number;
  readonly #reached = new AbortController();
  readonly #held = new Map<string, Held>();
  #changed = Promise.withResolvers<void>();

  /** @param ms how long others have */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Whether reading must wait for room. */
  get full(): boolean {
    return this.#held.size >= MAX_HELD;
  }

  hold(key: string, event: RecordedEvent, before: Position): void {
    // A second one under a key that nobody has settled is not settled by what settles the first.
    const name = this.#held.has(key) ? `${key} ${event.id}` : key;
    this.#held.set(name, { event, before, since: performance.now() });
    this.#tell();
  }

  /**
   * What was waited for is there.
   * @param event the one that was waited with; another that has come to wait under the key meanwhile is left alone
   */
  settle(key: string, event?: RecordedEvent): void {
    if (event !== undefined && this.#held.get(key)?.event !== event) return;
    if (this.#held.delete(key)) this.#tell();
  }

  /**
   * The end of the log is reached. When it is the first time, what still waits was there before the reactor: the time since
   * it happened counts, so that what a process left unfinished when it died is finished at once. (Not before the end: what
   * settles it may have been further on. Not later: a command may take long before it appends.)
   * @param now by the clock that events take their times from
   */
  caughtUp(now: Date): void {
    if (this.#reached.signal.aborted) return;
    for (const [key, held] of this.#held) {
      // A clock that is behind or a time that cannot be read gives no age.
      const age = Math.max(0, now.getTime() - Date.parse(held.event.metadata.time)) || 0;
      this.#held.set(key, { ...held, since: held.since - age });
    }
    this.#reached.abort();
  }

  /** Waits until the oldest is due; ends early, without a throw, at the first end of the log and when `signal` aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    const [oldest] = this.#held.values();
    if (oldest === undefined) return this.changed(signal);
    const reached = this.#reached.signal;
    const ends = reached.aborted ? signal : AbortSignal.any([signal, reached]);
    await pause(Math.max(1, oldest.since + this.#ms - performance.now()), ends);
  }

  /** Up to where everything is settled, when all that is read ends at `read`. */
  settledUpTo(read: Position): Position {
    const [oldest] = this.#held.values();
    return oldest?.before ?? read;
  }

  /** Those whose time is over, by their keys. */
  due(): ReadonlyMap<string, RecordedEvent> {
    const until = performance.now() - this.#ms;
    const due = new Map<string, RecordedEvent>();
    for (const [key, { event, since }] of this.#held) {
      if (since > until) break;
      due.set(key, event);
    }
    return due;
  }

  /** Resolves at the next change, or when `signal` aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { promise } = this.#changed;
    const wake = (): void => this.#tell();
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    signal.removeEventListener('abort', wake);
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
