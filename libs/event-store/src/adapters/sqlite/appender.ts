import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EncodedAppend } from '../../encode.ts';
import { type AppendResult, EventIdTaken, type ExpectedRevision, WrongExpectedRevision } from '../../port.ts';
import { prepareQuery, type Query, type Write } from '../sqlite-kit/index.ts';
import { Categories } from './categories.ts';

/** The stream as found inside the transaction; `head` is -1 when it does not exist. */
interface Target {
  readonly stream: { readonly id: number; readonly categoryId: number } | undefined;
  readonly head: number;
}

type Checked =
  | { readonly kind: 'repeated'; readonly result: AppendResult }
  | { readonly kind: 'write'; readonly target: Target };

/** Turns an append into a write of the shared transaction. Holds no state: another process may write at any time. */
export class Appender {
  readonly #locate: Query<[number, number, number]>;
  readonly #positionOfId: Query<[number]>;
  readonly #idsInStream: Query<[string, number]>;
  readonly #insertStream: StatementSync;
  readonly #insertEvent: StatementSync;
  readonly #categories: Categories;

  constructor(db: DatabaseSync) {
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
    return {
      bytes: append.bytes,
      check: () => this.#check(stream, append, expected),
      write: (checked) => (checked.kind === 'repeated' ? checked.result : this.#write(stream, append, checked.target)),
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
    return { revision: wanted + events.length, position, repeated: true };
  }

  #write(name: string, append: EncodedAppend, target: Target): AppendResult {
    const { id, categoryId } = target.stream ?? this.#createStream(name);
    let revision = target.head;
    let position = 0;
    for (const event of append.events) {
      revision += 1;
      const { lastInsertRowid } = this.#insertEvent.run(
        id,
        categoryId,
        revision,
        event.id,
        event.type,
        event.data,
        event.metadata,
      );
      position = Number(lastInsertRowid);
    }
    return { revision, position, repeated: false };
  }

  #createStream(name: string): { readonly id: number; readonly categoryId: number } {
    const categoryId = this.#categories.idFor(name);
    return { id: Number(this.#insertStream.run(name, categoryId).lastInsertRowid), categoryId };
  }
}
