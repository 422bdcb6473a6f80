import { type ProposedEvent, STREAM_DELETED } from './messages.ts';
import type { AppendOutcome, Expectation } from './outcomes.ts';

/** An event of the log: what is needed to find, filter and send it. */
export interface LogEntry {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  /** Where the next event is, or will be. */
  readonly end: number;
  /** Where its message is in the file. */
  readonly at: number;
  readonly length: number;
  /** The message itself while it is among the newest. */
  message: Buffer | undefined;
}

interface Stream {
  readonly entries: LogEntry[];
  /** Events before this revision are hidden; a soft delete hides all that there are. */
  truncateBefore: number;
  tombstoned: boolean;
}

type Checked = AppendOutcome | { readonly kind: 'write'; readonly truncateBefore: number | undefined };

/** Ids that an append without an exact revision is compared with: the real server remembers recent ones only (PITFALLS 10). */
const REMEMBERED_IDS = 1000;

const NOBODY: Stream = { entries: [], truncateBefore: 0, tombstoned: false };

/** Streams over the log: revisions, expectations, repeats, deletes; the rules are those of the real server. */
export class Streams {
  /** Position of the last event that readers may see. */
  published = 0;
  readonly #streams = new Map<string, Stream>();
  readonly #ids = new Map<string, LogEntry>();

  /** Revision of the next event. Goes on after a soft delete (PITFALLS 13). */
  next(stream: string): number {
    return this.#of(stream).entries.length;
  }

  /** Decides an append. Events that are not on disk yet count: they will be, or nothing more will. */
  check(stream: string, events: readonly ProposedEvent[], expected: Expectation): Checked {
    const found = this.#of(stream);
    const { entries, truncateBefore, tombstoned } = found;
    if (tombstoned) return { kind: 'tombstoned' };
    const gone = entries.length > 0 && truncateBefore >= entries.length;
    const write: Checked = { kind: 'write', truncateBefore: gone ? entries.length : undefined };
    const conflict: Checked = { kind: 'conflict', current: entries.length === 0 ? undefined : entries.length - 1 };
    if (expected === 'any' || expected === 'exists') {
      const [first] = events;
      const known = first === undefined ? undefined : this.#ids.get(first.id);
      if (known?.stream === stream) return this.#repeat(found, events, known.revision) ?? conflict;
      return expected === 'exists' && (entries.length === 0 || gone) ? conflict : write;
    }
    // A stream that was deleted is begun anew, but for who repeats what began it the first time.
    if (expected === 'no-stream' && gone && entries[0]?.id !== events[0]?.id) return write;
    const at = expected === 'no-stream' ? 0 : expected + 1;
    if (at === entries.length) return write;
    return (at < entries.length && this.#repeat(found, events, at)) || conflict;
  }

  /** The first result, when these very events are there from that revision on. */
  #repeat(stream: Stream, events: readonly ProposedEvent[], at: number): AppendOutcome | undefined {
    const { entries } = stream;
    if (!events.every(({ id }, index) => entries[at + index]?.id === id)) return undefined;
    const last = entries[at + events.length - 1];
    if (last === undefined) return undefined;
    if (last.position > this.published) return { kind: 'dropped' };
    // The answer names a place only where the event can still be read.
    const hidden = last.revision < stream.truncateBefore;
    return { kind: 'appended', revision: last.revision, position: hidden ? undefined : last.position };
  }

  add(entry: LogEntry, data: () => string): void {
    let stream = this.#streams.get(entry.stream);
    if (stream === undefined) {
      stream = { entries: [], truncateBefore: 0, tombstoned: false };
      this.#streams.set(entry.stream, stream);
    }
    stream.entries.push(entry);
    if (entry.type === STREAM_DELETED) stream.tombstoned = true;
    if (entry.stream.startsWith('$$') && entry.type === '$metadata') {
      const target = this.#streams.get(entry.stream.slice(2));
      const { $tb } = JSON.parse(data()) as { readonly $tb?: number };
      if (target !== undefined && $tb !== undefined) target.truncateBefore = $tb;
    }
    this.#ids.set(entry.id, entry);
    for (const id of this.#ids.keys()) {
      if (this.#ids.size <= REMEMBERED_IDS) break;
      this.#ids.delete(id);
    }
  }

  /** What a reader of a stream finds: nothing at all, the end of it for ever, or events from a revision on. */
  visible(name: string): 'absent' | 'tombstoned' | { readonly first: number; readonly last: number } {
    const { entries, truncateBefore, tombstoned } = this.#of(name);
    let last = entries.length - 1;
    while (last >= 0 && (entries[last]?.position ?? 0) > this.published) last -= 1;
    if (tombstoned) return 'tombstoned';
    return last < truncateBefore ? 'absent' : { first: truncateBefore, last };
  }

  entry(name: string, revision: number): LogEntry | undefined {
    return this.#of(name).entries[revision];
  }

  #of(name: string): Stream {
    return this.#streams.get(name) ?? NOBODY;
  }
}
