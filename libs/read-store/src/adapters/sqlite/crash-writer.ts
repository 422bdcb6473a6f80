/**
 * Writes without end, several at a time, and prints what has been acknowledged. Run and killed by the crash test.
 * Arguments: path of the store, first revision.
 */
import { openSqliteReadStore } from '../sqlite.ts';

const [, , path = '', start = '0'] = process.argv;
const store = await openSqliteReadStore({ path });
const documents = await store.collection<{ n: number; tags: string[] }>({
  name: 'testing.crash',
  version: 1,
  indexes: [
    { name: 'n', fields: ['n'] },
    { name: 'tags', fields: ['tags'], multi: true },
  ],
});
const progress = await store.collection<{ n: number }>({ name: 'testing.progress', version: 1, indexes: [] });

const write = async (n: number): Promise<void> => {
  const id = `d${n % 50}`;
  await store.batch([
    { collection: documents, write: { kind: 'put', id, revision: n, document: { n, tags: [`t${n}`] } } },
    { collection: progress, write: { kind: 'put', id, revision: n, document: { n } } },
  ]);
  process.stdout.write(`${n}\n`);
};

for (let n = Number(start); ; n += 5) await Promise.all([0, 1, 2, 3, 4].map((offset) => write(n + offset)));
