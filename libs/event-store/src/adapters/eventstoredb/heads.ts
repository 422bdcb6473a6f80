import type { Position } from '../../port.ts';
import { Joined } from './bounded.ts';
import { filterOf, type LogFilter } from './filters.ts';
import type { Reader } from './reader.ts';

interface Known {
  /** Everything up to here was looked at. */
  readonly upTo: Position;
  readonly head: Position;
}

interface Watched {
  readonly filter: LogFilter;
  readonly answer: Joined<Position>;
  known: Known | undefined;
}

/** Lists of prefixes whose heads are remembered. */
const MOST_LISTS = 100;
/** New events up to which looking forwards from the last answer is worth it; beyond that the newest is near the end. */
const NEAR = 32;

/**
 * Ends of the log, and of parts of it. That of the whole log is one read of one event. That of a list of prefixes is looked
 * for backwards the first time, which costs the server a pass over whatever came after it; from then on only what is
 * newer than the last answer is looked at.
 */
export class Heads {
  readonly #reader: Reader;
  readonly #closed: AbortSignal;
  readonly #all = filterOf(undefined);
  readonly #end: Joined<Position>;
  readonly #watched = new Map<string, Watched>();

  constructor(reader: Reader, closed: AbortSignal) {
    this.#reader = reader;
    this.#closed = closed;
    this.#end = new Joined(async () => (await this.#reader.last(this.#all, this.#closed))?.event.position ?? 0);
  }

  /** Position of the last event that is not the server's own; 0 when there is none. */
  end(): Promise<Position> {
    return this.#end.answer();
  }

  of(filter: LogFilter): Promise<Position> {
    if (filter.key === this.#all.key) return this.end();
    let watched = this.#watched.get(filter.key);
    if (watched === undefined) {
      const made: Watched = { filter, known: undefined, answer: new Joined(() => this.#look(made)) };
      watched = made;
      const [oldest] = this.#watched.keys();
      if (this.#watched.size >= MOST_LISTS && oldest !== undefined) this.#watched.delete(oldest);
      this.#watched.set(filter.key, watched);
    }
    return watched.answer.answer();
  }

  async #look(watched: Watched): Promise<Position> {
    const { filter, known } = watched;
    const end = await this.end(); // first: what comes later is for the next answer
    if (known !== undefined && known.upTo >= end) return known.head;
    const head = (known && (await this.#forwards(filter, known))) ?? (await this.#backwards(filter));
    watched.known = { upTo: Math.max(end, head), head };
    return head;
  }

  /** The head when few events are newer than the last answer. */
  async #forwards(filter: LogFilter, { upTo, head }: Known): Promise<Position | undefined> {
    let found = 0;
    let last = head;
    for await (const { event } of this.#reader.log(upTo, filter, NEAR, this.#closed)) {
      found += 1;
      last = event.position;
    }
    return found < NEAR ? last : undefined;
  }

  async #backwards(filter: LogFilter): Promise<Position> {
    return (await this.#reader.last(filter, this.#closed))?.event.position ?? 0;
  }
}
