import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Collection, ReadStore } from '../port.ts';
import { openSqliteReadStore } from './sqlite.ts';

interface Note {
  readonly text: string;
}

let folder: string;
let store: ReadStore;
let notes: Collection<Note>;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-scrub-'));
  store = await openSqliteReadStore({ path: join(folder, 'read.db') });
  notes = await store.collection<Note>({ name: 'notes', version: 1, indexes: [] });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const holds = async (text: string): Promise<boolean> => {
  const files = await readdir(folder);
  const contents = await Promise.all(files.map((name) => readFile(join(folder, name))));
  return contents.some((content) => content.includes(text));
};

test('what was overwritten and removed is in no file any more, and the rest is there', async () => {
  await notes.put('a', 1, { text: 'marker-one' });
  await notes.put('b', 1, { text: 'marker-two' });
  await notes.put('a', 2, { text: 'kept' });
  await notes.remove('b', 2);
  await store.scrub();
  expect([await holds('marker-one'), await holds('marker-two'), await holds('kept')]).toEqual([false, false, true]);
  expect((await notes.get('a'))?.document.text).toBe('kept');
  await notes.put('c', 1, { text: 'after' });
  expect((await notes.get('c'))?.document.text).toBe('after');
});

test('meanwhile the process serves: reads are answered, writes wait and succeed, the loop turns', async () => {
  const text = 'x'.repeat(50_000);
  for (let index = 0; index < 600; index++) await notes.put(`n${index}`, 1, { text: `${index}${text}` });
  let over = false;
  const begun = performance.now();
  const scrub = store.scrub().finally(() => {
    over = true;
  });
  await new Promise(setImmediate);
  const written = notes.put('during', 1, { text: 'written' });
  let longest = 0;
  let turns = 0;
  for (let last = performance.now(); !over; ) {
    expect((await notes.get(`n${turns % 600}`))?.document.text.length).toBeGreaterThan(50_000);
    await new Promise(setImmediate);
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    turns += 1;
  }
  await scrub;
  const took = performance.now() - begun;
  expect(await written).toBe(true);
  expect((await notes.get('during'))?.document.text).toBe('written');
  expect(turns).toBeGreaterThan(5);
  expect(longest).toBeLessThan(Math.max(100, took * 0.8));
});

test('scrubs at the same time are few, each after what was removed before it was asked for', async () => {
  await notes.put('a', 1, { text: 'marker-one' });
  await notes.remove('a', 2);
  const first = store.scrub();
  await notes.put('b', 1, { text: 'marker-two' });
  await notes.remove('b', 2);
  await Promise.all([first, ...Array.from({ length: 20 }, () => store.scrub())]);
  expect([await holds('marker-one'), await holds('marker-two')]).toEqual([false, false]);
});

test('closing waits for it; a closed store scrubs nothing', async () => {
  await notes.put('a', 1, { text: 'marker' });
  await notes.remove('a', 2);
  const scrub = store.scrub();
  await new Promise(setImmediate);
  await store.close();
  await scrub;
  await expect(store.scrub()).rejects.toMatchObject({ code: 'read_store.unavailable' });
  expect(await holds('marker')).toBe(false);
});
