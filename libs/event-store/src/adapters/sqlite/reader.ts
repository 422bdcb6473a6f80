import type { DatabaseSync } from 'node:sqlite';
import type { EventMetadata, Position, RecordedEvent } from '../../port.ts';
import { prepareQuery, type Query } from '../sqlite-kit/index.ts';
import { Categories, planFilter } from './categories.ts';
import type { RecentEvents, SizedEvent } from './recent.ts';

/** An event as a row. */
export type Row = [
  position: number,
  stream: string,
  revision: number,
  id: string,
  type: string,
  data: string,
  metadata: string,
];

/** Events of a part of the log, and how far it was looked at. */
export interface LogPage {
  readonly events: readonly RecordedEvent[];
  /** Everything up to here was looked at, matching or not. */
  readonly position: Position;
  /** Whether that was the end of the log. */
  readonly end: boolean;
}

interface Source {
  readonly fetch: (after: Position, upTo: Position, limit: number) => readonly Row[];
  readonly filter: readonly string[] | undefined;
}

const byPosition = (a: Row, b: Row): number => a[0] - b[0];

/** Rows of one statement: with payloads of 1 MB, so many are in memory at a time. */
const CHUNK = 64;
/** Events of a page, and the length after which it ends earlier. */
export const PAGE_EVENTS = 512;
const PAGE_LENGTH = 4 * 1024 * 1024;
/** More categories than this are found by reading all events: merging that many index ranges would cost more. */
const MAX_MERGED = 64;

const COLUMNS = 'e.position, s.name, e.revision, e.id, e.type, e.data, e.metadata';

/**
 * Data is parsed when somebody asks, once: of the readers that follow the log most pass most events by, and the data of
 * an event may be a megabyte.
 */
const toEvent = ([position, stream, revision, id, type, dataText, metadataText]: Row): RecordedEvent => {
  let data: unknown;
  let metadata: EventMetadata | undefined;
  return {
    id,
    stream,
    revision,
    position,
    type,
    get data() {
      if (data === undefined) data = JSON.parse(dataText) as unknown;
      return data;
    },
    get metadata() {
      if (metadata === undefined) metadata = JSON.parse(metadataText) as EventMetadata;
      return metadata;
    },
  };
};

/** An event and its length, as {@link RecentEvents} keeps it. */
export const toSizedEvent = (row: Row): SizedEvent => ({
  event: toEvent(row),
  length: row[5].length + row[6].length,
});

const startsWithOneOf = (name: string, prefixes: readonly string[]): boolean =>
  prefixes.some((prefix) => name.startsWith(prefix));

/** First text after all that start with `prefix`, in the order of SQLite (UTF-8 bytes, which is that of code points). */
const AFTER_ALL = '\u{10FFFF}';

/** Reads in short statements, so that nothing is held between pages and memory stays bounded. */
export class Reader {
  readonly #db: DatabaseSync;
  readonly #categories: Categories;
  readonly #forwards: Query<Row>;
  readonly #backwards: Query<Row>;
  readonly #log: Query<Row>;
  readonly #merged = new Map<number, Query<Row>>();
  readonly #head: Query<[number | null]>;
  readonly #headOfCategories: Query<[number | null]>;
  readonly #headOfStreams: Query<[number | null]>;
  readonly #recent: RecentEvents;

  constructor(db: DatabaseSync, recent: RecentEvents) {
    this.#recent = recent;
    this.#db = db;
    this.#categories = new Categories(db);
    const ofStream = `SELECT ${COLUMNS} FROM streams s CROSS JOIN events e ON e.stream_id = s.id WHERE s.name = ?`;
    this.#forwards = prepareQuery(db, `${ofStream} AND e.revision >= ? ORDER BY e.revision LIMIT ?+0`);
    this.#backwards = prepareQuery(db, `${ofStream} AND e.revision <= ? ORDER BY e.revision DESC LIMIT ?+0`);
    this.#log = prepareQuery(
      db,
      `SELECT ${COLUMNS} FROM events e CROSS JOIN streams s ON s.id = e.stream_id
       WHERE e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ?+0`,
    );
    this.#head = prepareQuery(db, 'SELECT max(position) FROM events');
    this.#headOfCategories = prepareQuery(
      db,
      'SELECT max((SELECT max(position) FROM events WHERE category_id = c.id)) FROM categories c WHERE name >= ? AND name < ?',
    );
    this.#headOfStreams = prepareQuery(
      db,
      `SELECT max((SELECT position FROM events WHERE stream_id = s.id ORDER BY revision DESC LIMIT 1))
       FROM streams s WHERE name >= ? AND name < ?`,
    );
  }

  /** Position of the last event, 0 when there is none. */
  head(): Position {
    return this.#head.first()?.[0] ?? 0;
  }

  /** Position of the last event whose stream starts with one of `prefixes`, 0 when there is none. */
  headOf(prefixes: readonly string[]): Position {
    const { categories } = planFilter(this.#categories.list(), prefixes);
    return prefixes.reduce((last, prefix) => {
      const inside = categories.some(({ name }) => prefix !== name && prefix.startsWith(name));
      const whole = this.#headOfCategories.first(prefix, prefix + AFTER_ALL)?.[0] ?? 0;
      const part = inside ? (this.#headOfStreams.first(prefix, prefix + AFTER_ALL)?.[0] ?? 0) : 0;
      return Math.max(last, whole, part);
    }, 0);
  }

  /** At most 64 events of a stream, from a revision on. */
  streamChunk(
    stream: string,
    from: number,
    direction: 'forwards' | 'backwards',
    limit: number,
  ): readonly RecordedEvent[] {
    const query = direction === 'forwards' ? this.#forwards : this.#backwards;
    return query.all(stream, from, Math.min(limit, CHUNK)).map(toEvent);
  }

  /** The next page of the log after a position. */
  page(after: Position, prefixes: readonly string[] | undefined, limit = PAGE_EVENTS): LogPage {
    const events: RecordedEvent[] = [];
    let length = 0;
    let looked = 0;
    const head = this.head(); // read first: an event that another process appends now is for the next page
    if (after >= head) return { events, position: after, end: true };
    // Further back a reader of few events does better with the index.
    const recent = head - after > PAGE_EVENTS ? undefined : this.#recent.between(after, head);
    if (recent !== undefined) return pageOf(recent, prefixes, limit);
    const { fetch, filter } = this.#source(prefixes);
    let position = after;
    while (events.length < limit && looked < PAGE_EVENTS && length < PAGE_LENGTH) {
      const wanted = Math.min(CHUNK, limit - events.length);
      const rows = fetch(position, head, wanted);
      for (const row of rows) {
        length += row[5].length + row[6].length;
        if (filter === undefined || startsWithOneOf(row[1], filter)) events.push(toEvent(row));
      }
      looked += rows.length;
      position = rows.at(-1)?.[0] ?? position;
      if (rows.length < wanted) return { events, position: head, end: true };
    }
    return { events, position, end: position >= head };
  }

  /** Where to read the events of some prefixes, and the prefixes that each must still be compared with. */
  #source(prefixes: readonly string[] | undefined): Source {
    const all: Source['fetch'] = (after, upTo, limit) => this.#log.all(after, upTo, limit);
    if (prefixes === undefined) return { fetch: all, filter: undefined };
    const { categories, everyCategory, checkNames } = planFilter(this.#categories.list(), prefixes);
    const filter = checkNames ? prefixes : undefined;
    const ids = categories.map(({ id }) => id);
    if (ids.length === 0) return { fetch: () => [], filter };
    if (everyCategory) return { fetch: all, filter };
    if (ids.length > MAX_MERGED) return { fetch: all, filter: prefixes };
    const query = this.#mergedQuery(ids.length);
    const fetch: Source['fetch'] = (after, upTo, limit) =>
      query.all(...ids.flatMap((id) => [id, after, upTo]), limit).sort(byPosition);
    return { fetch, filter };
  }

  /** SQLite merges the arms lazily, each already in order in its index, so that only `limit` entries are read. */
  #mergedQuery(arms: number): Query<Row> {
    const known = this.#merged.get(arms);
    if (known) return known;
    const arm = 'SELECT position AS p FROM events WHERE category_id = ? AND position > ? AND position <= ?';
    const union = Array.from({ length: arms }, () => arm).join(' UNION ALL ');
    const query = prepareQuery<Row>(
      this.#db,
      `SELECT ${COLUMNS} FROM (${union} ORDER BY p LIMIT ?+0) CROSS JOIN events e ON e.position = p
       CROSS JOIN streams s ON s.id = e.stream_id`, // an ORDER BY here would copy the rows once more
    );
    this.#merged.set(arms, query);
    return query;
  }
}

/** A page of events that are at hand; `recent` is not empty. */
const pageOf = (recent: readonly SizedEvent[], prefixes: readonly string[] | undefined, limit: number): LogPage => {
  const events: RecordedEvent[] = [];
  let length = 0;
  let looked = 0;
  for (const sized of recent) {
    if (events.length >= limit || length >= PAGE_LENGTH) break;
    looked += 1;
    if (prefixes !== undefined && !startsWithOneOf(sized.event.stream, prefixes)) continue;
    events.push(sized.event);
    length += sized.length;
  }
  return { events, position: recent[looked - 1]?.event.position ?? 0, end: looked === recent.length };
};
