import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventLog, LogEntry } from './log.ts';
import { type Checkpoint, caughtUp, checkpoint, confirmation } from './messages.ts';
import type { Filter, ReadRequest } from './read-request.ts';
import { indexOf, type ReadCall, SLICE, send } from './reader.ts';
import type { ServerVersion } from './versions.ts';

/** Events that the server reads in one go. */
const PAGE = 32;

interface Page {
  readonly events: readonly LogEntry[];
  readonly considered: number;
  /** Where the next page begins; where this one did when there is nothing more. */
  readonly next: number;
  /** Index of the first entry that was not looked at. */
  readonly index: number;
  readonly atEnd: boolean;
}

const pageFrom = ({ entries }: EventLog, start: number, window: number, filter: Filter): Page => {
  const events: LogEntry[] = [];
  let [considered, next, index] = [0, start, indexOf(entries, start)];
  for (; events.length < PAGE && considered < window; index += 1) {
    const entry = entries[index];
    if (entry === undefined) return { events, considered, next, index, atEnd: true };
    considered += 1;
    next = entry.end;
    if (filter(entry)) events.push(entry);
  }
  return { events, considered, next, index, atEnd: false };
};

/** Between two records, as the server writes it: the commit position of the next one and no prepare position. */
const between = (commit: number): Checkpoint => ({ commit: String(commit), prepare: '0' });
/** "Nowhere", as an unsigned number. */
const NOWHERE: Checkpoint = { commit: '18446744073709551615', prepare: '18446744073709551615' };
const at = ({ position }: LogEntry): Checkpoint => ({ commit: String(position), prepare: String(position) });

/** The checkpoints of a filtered subscription while it catches up, which differ between versions of the server. */
class Checkpoints {
  readonly #version: ServerVersion;
  readonly #every: number;
  #considered = 0;
  #mark: Checkpoint | undefined;

  constructor(version: ServerVersion, every: number, from: number | undefined) {
    this.#version = version;
    this.#every = every;
    this.#mark = from === undefined ? undefined : { commit: String(from), prepare: String(from) };
  }

  sent(entry: LogEntry): void {
    this.#mark = at(entry);
  }

  /** What is sent after a page, if anything. */
  after(page: Page, start: number): Checkpoint | undefined {
    if (this.#every === 0) return undefined;
    this.#considered += page.considered;
    if (page.atEnd) return this.#atEnd(page, start);
    if (this.#considered < this.#every) return undefined;
    this.#considered %= this.#every;
    this.#advance(start);
    return this.#mark;
  }

  #atEnd(page: Page, start: number): Checkpoint | undefined {
    if (this.#version === '22.10') return between(page.next); // of an event that is yet to be written
    if (this.#version === '24.10') return this.#mark ?? NOWHERE;
    // 25.0 forgets that nothing was read at the place where an empty page begins.
    if (this.#version === '25.0' || page.next > start) this.#advance(start);
    return this.#mark;
  }

  #advance(start: number): void {
    if (start > Number(this.#mark?.commit ?? 0)) this.#mark = between(start);
  }
}

/** Resolves when there is more than `seen` events, or the call is over. */
const more = (log: EventLog, seen: number, call: ReadCall): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      forget();
      call.off('cancelled', done).off('close', done);
      resolve();
    };
    const forget = log.onPublished(() => {
      if (log.entries.length > seen) done();
    });
    call.once('cancelled', done).once('close', done);
    if (call.cancelled || call.destroyed || log.entries.length > seen) done();
  });

const isOver = (call: ReadCall): boolean => call.cancelled || call.destroyed || call.writableEnded;

/** Serves a subscription until the reader leaves. A slow reader holds nothing but its own place in the log. */
export const follow = async (
  log: EventLog,
  request: ReadRequest,
  call: ReadCall,
  version: ServerVersion,
): Promise<void> => {
  const { stream, from, filter, window, checkpointEvery } = request;
  if (!(await send(call, confirmation(crypto.randomUUID())))) return;
  const ofStream = stream !== undefined;
  const first = ofStream && typeof from === 'number' ? from + 1 : 0;
  const wanted: Filter = ofStream ? (entry) => entry.stream === stream && entry.revision >= first : filter;
  const after = !ofStream && typeof from === 'number' ? from : undefined;
  const checkpoints = new Checkpoints(version, checkpointEvery, after);
  let index = log.entries.length;
  for (let start = after ?? 0; from !== 'end' && !isOver(call); ) {
    const page = pageFrom(log, start, window, wanted);
    await nextTurn();
    for (const entry of page.events) {
      if (after !== undefined && entry.position <= after) continue;
      if (!(await send(call, log.messageOf(entry)))) return;
      checkpoints.sent(entry);
    }
    const reached = checkpoints.after(page, start);
    if (reached !== undefined && !(await send(call, checkpoint(reached)))) return;
    index = page.index;
    if (page.atEnd) break;
    start = page.next;
  }
  if (version !== '22.10' && !(await send(call, caughtUp()))) return;
  await live(log, index, wanted, after ?? 0, checkpointEvery, call);
};

const live = async (
  log: EventLog,
  seen: number,
  wanted: Filter,
  after: number,
  every: number,
  call: ReadCall,
): Promise<void> => {
  let index = seen;
  for (let considered = 0; !isOver(call); ) {
    const entry = log.entries[index];
    if (entry === undefined) {
      await more(log, index, call);
      continue;
    }
    index += 1;
    if (index % SLICE === 0) await nextTurn();
    considered += 1;
    if (wanted(entry) && entry.position > after && !(await send(call, log.messageOf(entry)))) return;
    if (every > 0 && considered >= every) {
      considered = 0;
      if (!(await send(call, checkpoint(at(entry))))) return;
    }
  }
};
