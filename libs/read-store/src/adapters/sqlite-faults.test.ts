import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { killAfterLines, seededRandom } from '@bindery/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqliteReadStore } from './sqlite.ts';

const writer = new URL('./sqlite/crash-writer.ts', import.meta.url).pathname;
const plain = { name: 'testing.plain', version: 1, indexes: [] };
let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-read-store-'));
  path = join(folder, 'read-store.db');
});

afterEach(() => rm(folder, { recursive: true }));

test('killed at any instant, what was acknowledged is there and batches are whole', async () => {
  const random = seededRandom(Date.now());
  const acknowledged = new Map<string, number>();
  let next = 0;
  for (let round = 0; round < 4; round++) {
    for (const line of await killAfterLines(writer, [path, String(next)], 100 + random.below(400))) {
      const n = Number(line);
      acknowledged.set(`d${n % 50}`, Math.max(n, acknowledged.get(`d${n % 50}`) ?? 0));
    }
    const store = await openSqliteReadStore({ path });
    const documents = await store.collection<{ n: number }>({
      name: 'testing.crash',
      version: 1,
      indexes: [
        { name: 'n', fields: ['n'] },
        { name: 'tags', fields: ['tags'], multi: true },
      ],
    });
    const progress = await store.collection<{ n: number }>({ name: 'testing.progress', version: 1, indexes: [] });
    for (const [id, n] of acknowledged) {
      const stored = await documents.get(id);
      expect(stored?.revision).toBeGreaterThanOrEqual(n);
      expect(stored?.document.n).toBe(stored?.revision);
      expect(await progress.get(id)).toEqual({ id, revision: stored?.revision, document: { n: stored?.revision } });
      expect(await documents.count({ tags: { contains: `t${stored?.revision}` } })).toBe(1);
      next = Math.max(next, (stored?.revision ?? 0) + 1);
    }
    await store.close();
  }
  expect(acknowledged.size).toBe(50);
});

test('another process that writes is waited for, and one that does not let go is reported', async () => {
  const store = await openSqliteReadStore({ path, busyTimeoutMs: 300 });
  const documents = await store.collection<{ n: number }>(plain);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const blocked = documents.put('a', 1, { n: 1 });
  await expect(blocked).rejects.toMatchObject({ code: 'read_store.unavailable' });
  expect(await documents.get('a')).toBeUndefined();
  const waiting = documents.put('a', 1, { n: 1 });
  other.exec('COMMIT');
  expect(await waiting).toBe(true);
  other.close();
  await store.close();
});

test('files that are no read store, damaged or newer are refused with their name', async () => {
  const refused = { code: 'read_store.unusable', message: expect.stringContaining(path) };
  await writeFile(path, 'x'.repeat(8192));
  await expect(openSqliteReadStore({ path })).rejects.toMatchObject(refused);
  await rm(path);
  const foreign = new DatabaseSync(path);
  foreign.exec('CREATE TABLE theirs(x)');
  foreign.close();
  await expect(openSqliteReadStore({ path })).rejects.toMatchObject(refused);
  await rm(path);
  await (await openSqliteReadStore({ path })).close();
  const newer = new DatabaseSync(path);
  newer.exec('PRAGMA user_version=99');
  newer.close();
  await expect(openSqliteReadStore({ path })).rejects.toMatchObject(refused);
  await rm(path);
  await mkdir(path);
  await expect(openSqliteReadStore({ path })).rejects.toMatchObject({ code: 'read_store.unavailable' });
});

test('damage inside the file is reported when it is met', async () => {
  const store = await openSqliteReadStore({ path });
  const documents = await store.collection<{ text: string }>(plain);
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => documents.put(`d${index}`, 1, { text: 'x'.repeat(3000) })),
  );
  await store.close();
  const bytes = await readFile(path);
  bytes.fill(0xff, 3 * 4096);
  await writeFile(path, bytes);
  const damaged = await openSqliteReadStore({ path });
  const reading = (async () => {
    const again = await damaged.collection<{ text: string }>(plain);
    for (let index = 0; index < 200; index++) await again.get(`d${index}`);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'read_store.unusable' });
  await damaged.close();
});
