import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Collection, CollectionSpec, ReadStore } from '../../port.ts';
import { openSqliteReadStore } from '../sqlite.ts';
import { encode, encodeElement, layoutOf } from './layout.ts';

const spec: CollectionSpec = {
  name: 'items',
  version: 1,
  indexes: [
    { name: 'a', fields: ['a', 'b'] },
    { name: 'b', fields: ['b'] },
    { name: 'only', fields: ['only'], unique: true },
    { name: 'tags', fields: ['tags'], multi: true },
    { name: 'names', fields: ['names'], multi: true, unique: true },
  ],
};

type Document = Readonly<Record<string, unknown>>;
type Step =
  | { readonly kind: 'put' | 'compare'; readonly id: string; readonly revision: number; readonly document: Document }
  | { readonly kind: 'remove' | 'get'; readonly id: string; readonly revision: number }
  | { readonly kind: 'purge'; readonly a: string | number | boolean | null }
  | { readonly kind: 'batch'; readonly steps: readonly Extract<Step, { readonly document: Document }>[] };

const text = fc.constantFrom('x', 'X', '', '1', 'x\u0000', 'x\u0000y', '\ud800', '\udfff', '\ufffd', 'é', 'e\u0301');
const long = fc.constantFrom('z'.repeat(3000), `${'z'.repeat(3000)}1`);
const number = fc.constantFrom(0, -0, 1, 1.5, -1, 2 ** 53, 2 ** 53 + 2, 1e300);
const scalar = fc.oneof(text, long, number, fc.boolean(), fc.constant(null));
const document = fc.record(
  {
    a: fc.oneof(scalar, fc.constantFrom({ deep: 1 }, ['x'])),
    b: fc.constantFrom('x', 'y', null),
    only: fc.oneof(fc.constant(null), fc.nat({ max: 5 })),
    tags: fc.array(scalar, { maxLength: 4 }),
    names: fc.array(fc.nat({ max: 8 }), { maxLength: 2 }),
    rest: fc.nat(),
  },
  { requiredKeys: [] },
);
const id = fc.constantFrom('i1', 'i2', 'i3', 'i\u0000', 'i\u0000x');
const revision = fc.nat({ max: 12 });
const put = fc.record({ kind: fc.constantFrom('put' as const, 'compare' as const), id, revision, document });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: put },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const, 'get' as const), id, revision }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge' as const), a: fc.constantFrom('x', null, 1, true) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('batch' as const), steps: fc.array(put, { minLength: 1, maxLength: 4 }) }),
  },
);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bindery-narrow-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const outcome = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => Object(error).code);

const perform = async (store: ReadStore, items: Collection<Document>, given: Step): Promise<unknown> => {
  switch (given.kind) {
    case 'put':
      return outcome(items.put(given.id, given.revision, given.document));
    case 'compare':
      return outcome(items.compareAndPut(given.id, given.revision - 1, given.document));
    case 'remove':
      return outcome(items.remove(given.id, given.revision));
    case 'get':
      return items.get(given.id);
    case 'purge':
      return items.purge({ a: given.a }, 2);
    default:
      return outcome(
        store.batch(
          given.steps.map(({ id: of, revision: at, document: what }) => ({
            collection: items,
            write: { kind: 'put', id: of, revision: at, document: what },
          })),
        ),
      );
  }
};

/** What the file keeps of a value: no half characters, and not the sign of zero, by which nothing is told apart. */
const kept = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  return value === 0 ? 0 : value;
};
const inOrder = (rows: readonly unknown[]): readonly string[] =>
  rows.map((row) => inspect(row, { maxStringLength: null })).sort();

/** What is in the indexes of a file, and what has to be there by the documents in it. */
const indexesOf = (path: string) => {
  const db = new DatabaseSync(path);
  try {
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    const { table, columns, readers, sides } = layoutOf(spec, 0);
    const rowsOf = (what: string, from: string): readonly unknown[][] =>
      db
        .prepare(`SELECT ${what} FROM ${from}`)
        .all()
        .map((row) => Object.values(row).map(kept));
    const documents = rowsOf('id, document', table).map(([of, stored]): readonly [unknown, unknown] => [
      of,
      stored === null ? undefined : JSON.parse(String(stored)),
    ]);
    return {
      found: [rowsOf(['id', ...columns.values()].join(), table), ...sides.map((side) => rowsOf('*', side.table))],
      wanted: [
        documents.map(([of, stored]) => [of, ...readers.map((read) => kept(encode(read(stored))))]),
        ...sides.map(({ read }) =>
          documents.flatMap(([of, stored]) => read(stored).map((value) => [of, kept(encodeElement(value))])),
        ),
      ],
    };
  } finally {
    db.close();
  }
};

test('whatever is written in whatever order, each is answered as where rows are written whole, and the indexes are those of the documents', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 40 }), async (steps) => {
      run += 1;
      const [narrow, whole] = [join(folder, `narrow-${run}.db`), join(folder, `whole-${run}.db`)];
      const store = await openSqliteReadStore({ path: narrow, sole: true });
      const plain = await openSqliteReadStore({ path: whole });
      try {
        let items = await store.collection<Document>(spec);
        for (const [given, again] of steps) {
          if (again) items = await store.collection<Document>(spec);
          // One that was opened just now remembers nothing of what it wrote.
          const fresh = await plain.collection<Document>(spec);
          expect([given, await perform(store, items, given)]).toEqual([given, await perform(plain, fresh, given)]);
        }
      } finally {
        await Promise.all([store.close(), plain.close()]);
      }
      const { found, wanted } = indexesOf(narrow);
      expect(found.map(inOrder)).toEqual(wanted.map(inOrder));
    }),
    { numRuns: 60 },
  );
});
