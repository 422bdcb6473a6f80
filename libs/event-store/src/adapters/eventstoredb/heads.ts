import type { Position } from '../../port.ts';
import { bounded, Joined } from './bounded.ts';
import { portErrorOf } from './errors.ts';
import { filterOf, isOurs, type LogFilter } from './filters.ts';
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
 * Longest silence while the server goes back through a log in which nothing matches, in ms. It goes on when those who asked have
 * given up, so that a very long log is looked through once and not, in vain, by everyone who asks again.
 */
const BACKWARDS_MS = 600_000;

/**
 * Ends of the log, and of parts of it. The first time each is looked for backwards, which costs the server a pass over whatever
 * came after it; from then on only what is newer than the last answer is looked at. When the log ends with events of the server
 * itself (statistics, links of projections, metadata), they are passed over once too.
 */
export class Heads {
  readonly #reader: Reader;
  readonly #closed: AbortSignal;
  readonly #waitMs: number;
  readonly #all: Watched;
  readonly #watched = new Map<string, Watched>();

  /** @param waitMs the longest that anyone waits for an answer */
  constructor(reader: Reader, waitMs: number, closed: AbortSignal) {
    this.#reader = reader;
    this.#closed = closed;
    this.#waitMs = waitMs;
    this.#all = this.#watch(filterOf(undefined), () => this.#endOfLog());
  }

  /** Position of the last event that is not the server's own; 0 when there is none. */
  end(): Promise<Position> {
    return this.#within(this.#all);
  }

  of(filter: LogFilter): Promise<Position> {
    if (filter.key === this.#all.filter.key) return this.end();
    let watched = this.#watched.get(filter.key);
    if (watched === undefined) {
      const made = this.#watch(filter, () => this.#look(made));
      watched = made;
      const [oldest] = this.#watched.keys();
      if (this.#watched.size >= MOST_LISTS && oldest !== undefined) this.#watched.delete(oldest);
      this.#watched.set(filter.key, watched);
    }
    return this.#within(watched);
  }

  #watch(filter: LogFilter, look: () => Promise<Position>): Watched {
    return { filter, known: undefined, answer: new Joined(look) };
  }

  async #within({ answer }: Watched): Promise<Position> {
    try {
      return await bounded(this.#waitMs, this.#closed, () => answer.answer());
    } catch (error) {
      throw portErrorOf('looking for the end of the log', error);
    }
  }

  /** The newest event of all is at hand; only when it is the server's is there more to look at than that. */
  async #endOfLog(): Promise<Position> {
    const newest = (await this.#reader.end(this.#closed))?.event;
    if (newest === undefined) return 0;
    const { position } = newest;
    if (!isOurs(newest)) return this.#since(this.#all, position);
    this.#all.known = { upTo: position, head: position };
    return position;
  }

  async #look(watched: Watched): Promise<Position> {
    return this.#since(watched, await this.#all.answer.answer()); // first: what comes later is for the next answer
  }

  async #since(watched: Watched, end: Position): Promise<Position> {
    const { filter, known } = watched;
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
    return (await this.#reader.last(filter, BACKWARDS_MS, this.#closed))?.event.position ?? 0;
  }
}
