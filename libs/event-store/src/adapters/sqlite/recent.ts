import type { Position, RecordedEvent } from '../../port.ts';

/** Bounds: what live readers have not read by then, they read from the database. */
const MAX_EVENTS = 2000;
const MAX_LENGTH = 4 * 1024 * 1024;

/** An event and the length of its JSON. */
export interface SizedEvent {
  readonly event: RecordedEvent;
  readonly length: number;
}

/**
 * The newest part of the log as this process appended it, without gaps, so that the readers who follow the log live do
 * not each fetch and parse the same rows. Another process's event makes a gap: then it begins anew behind it.
 */
export class RecentEvents {
  /** Oldest first; positions follow one another (see schema). */
  #events: SizedEvent[] = [];
  #length = 0;

  /** Events just committed, in order. */
  add(events: readonly SizedEvent[]): void {
    for (const sized of events) {
      const last = this.#events.at(-1);
      if (last !== undefined && last.event.position + 1 !== sized.event.position) this.#forget(this.#events.length);
      this.#events.push(sized);
      this.#length += sized.length;
    }
    // Twice the bound before it is cut to it, so that cutting is seldom.
    if (this.#events.length <= 2 * MAX_EVENTS && this.#length <= 2 * MAX_LENGTH) return;
    let rest = this.#length;
    const over = this.#events.length - MAX_EVENTS;
    const kept = this.#events.findIndex(({ length }, index) => {
      if (index >= over && rest <= MAX_LENGTH) return true;
      rest -= length;
      return false;
    });
    this.#forget(kept < 0 ? this.#events.length : kept);
  }

  /** Everything after a position up to the head of the log; undefined when it is not all here. */
  between(after: Position, head: Position): readonly SizedEvent[] | undefined {
    const first = this.#events[0]?.event.position;
    if (first === undefined || after < first - 1 || this.#events.at(-1)?.event.position !== head) return undefined;
    return this.#events.slice(after - first + 1);
  }

  #forget(count: number): void {
    for (const { length } of this.#events.splice(0, count)) this.#length -= length;
  }
}
