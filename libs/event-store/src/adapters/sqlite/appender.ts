import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EncodedAppend } from '../../encode.ts';
import { type AppendResult, EventIdTaken, type ExpectedRevision, WrongExpectedRevision } from '../../port.ts';
import { prepareQuery, type Query, type Write } from '../sqlite-kit/index.ts';
import { Categories } from './categories.ts';
import { type Row, toSizedEvent } from './reader.ts';
import type { RecentEvents } from './recent.ts';

/** The stream as found inside the transaction; `head` is -1 when it does not exist. */
interface Target {
  readonly stream: { readonly id: number; readonly categoryId: number } | undefined;
  readonly head: number;
}

type Checked =
  | { readonly kind: 'repeated'; readonly result: AppendResult }
  | { readonly kind: 'write'; readonly target: Target };

/**
 * Turns an append into a write of the shared transaction. Decides from the database alone: another process may write at
 * any time.
 */
export class Appender {
  readonly #locate: Query<[number, number, number]>;
  readonly #positionOfId: Query<[number]>;
  readonly #idsInStream: Query<[string, number]>;
  readonly #insertStream: StatementSync;
  readonly #insertEvent: StatementSync;
  readonly #categories: Categories;
  readonly #recent: RecentEvents;

  constructor(db: DatabaseSync, recent: RecentEvents) {
    this.#recent = recent;
    this.#locate = prepareQuery(
      db,
      'SELECT s.id, s.category_id, (SELECT max(revision) FROM events WHERE stream_id = s.id) FROM streams s WHERE s.name = ?',
    );
    this.#positionOfId = prepareQuery(db, 'SELECT position FROM events WHERE id = ?');
    this.#idsInStream = prepareQuery(
      db,
      'SELECT id, position FROM events WHERE stream_id = ? AND revision > ? ORDER BY revision LIMIT ?+0',
    );
    this.#insertStream = db.prepare('INSERT INTO streams (name, category_id) VALUES (?, ?)');
    this.#insertEvent = db.prepare(
      'INSERT INTO events (stream_id, category_id, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#categories = new Categories(db);
  }

  prepare(stream: string, append: EncodedAppend, expected: ExpectedRevision): Write<Checked, AppendResult> {
    let rows: readonly Row[] = [];
    return {
      bytes: append.bytes,
      check: () => this.#check(stream, append, expected),
      write: (checked) => {
        rows = checked.kind === 'repeated' ? [] : this.#write(stream, append, checked.target);
        if (checked.kind === 'repeated') return checked.result;
        const [position, , revision] = rows.at(-1) ?? [0, '', checked.target.head];
        return { revision, position };
      },
      committed: () => this.#recent.add(rows.map(toSizedEvent)),
    };
  }

  #check(name: string, append: EncodedAppend, expected: ExpectedRevision): Checked {
    const found = this.#locate.first(name);
    const target: Target = found
      ? { stream: { id: found[0], categoryId: found[1] }, head: found[2] }
      : { stream: undefined, head: -1 };
    const wanted = expected === 'no-stream' ? -1 : expected;
    if (target.head !== wanted) {
      const result = this.#earlierResult(append, target, wanted);
      if (result) return { kind: 'repeated', result };
      throw new WrongExpectedRevision(name, expected, target.head);
    }
    for (const event of append.events) if (this.#positionOfId.first(event.id)) throw new EventIdTaken(event.id);
    return { kind: 'write', target };
  }

  /** The result of the first append when exactly these events follow the expected revision. */
  #earlierResult(append: EncodedAppend, target: Target, wanted: number): AppendResult | undefined {
    const { events } = append;
    if (!target.stream || target.head < wanted + events.length) return undefined;
    const stored = this.#idsInStream.all(target.stream.id, wanted, events.length);
    if (!events.every((event, index) => stored[index]?.[0] === event.id)) return undefined;
    const position = stored.at(-1)?.[1] ?? 0;
    return { revision: wanted + events.length, position };
  }

  #write(name: string, append: EncodedAppend, target: Target): readonly Row[] {
    const { id, categoryId } = target.stream ?? this.#createStream(name);
    return append.events.map((event, index) => {
      const { id: eventId, type, data, metadata } = event;
      const revision = target.head + 1 + index;
      const { lastInsertRowid } = this.#insertEvent.run(id, categoryId, revision, eventId, type, data, metadata);
      return [Number(lastInsertRowid), name, revision, eventId, type, data, metadata];
    });
  }

  #createStream(name: string): { readonly id: number; readonly categoryId: number } {
    const categoryId = this.#categories.idFor(name);
    return { id: Number(this.#insertStream.run(name, categoryId).lastInsertRowid), categoryId };
  }
}
