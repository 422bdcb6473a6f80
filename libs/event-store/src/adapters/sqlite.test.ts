import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type EventData, type EventStore, EventStoreUnavailable } from '../port.ts';
import { DatabaseFileError, openSqliteEventStore, type SqliteEventStoreOptions } from './sqlite.ts';

const event = (data: unknown = {}): EventData => ({
  id: randomUUID(),
  type: 'T',
  data,
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    actor: { kind: 'service', id: 's' },
    schemaVersion: 1,
    time: '2030-01-01T00:00:00.000Z',
  },
});

describe('event store on SQLite', () => {
  let folder = '';
  let opened: EventStore[] = [];
  const file = (): string => join(folder, 'events.db');
  const open = (options: Partial<SqliteEventStoreOptions> = {}): EventStore => {
    const store = openSqliteEventStore({ path: file(), ...options });
    opened.push(store);
    return store;
  };
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-events-'));
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    opened = [];
    await rm(folder, { recursive: true });
  });

  test('appends of one turn share a commit, and a batch is bounded', async () => {
    const commits: number[] = [];
    const store = open({ onCommit: ({ writes }) => commits.push(writes) });
    await Promise.all(Array.from({ length: 100 }, (_, index) => store.append(`a.b-${index}`, [event()], 'no-stream')));
    expect(commits).toEqual([100]);
    await Promise.all(Array.from({ length: 600 }, (_, index) => store.append(`b.b-${index}`, [event()], 'no-stream')));
    expect(commits).toEqual([100, 256, 256, 88]);
    const large = 'x'.repeat(1_500_000);
    await Promise.all([1, 2, 3].map((index) => store.append(`c.b-${index}`, [event(large)], 'no-stream')));
    expect(commits).toEqual([100, 256, 256, 88, 2, 1]);
  });

  test('a full queue refuses, by number and by bytes, and recovers', async () => {
    const store = open({ maxQueued: 5, maxQueuedBytes: 10_000 });
    const append = (size = 1): Promise<unknown> =>
      store.append(`a.b-${randomUUID()}`, [event('x'.repeat(size))], 'no-stream');
    const many = await Promise.allSettled(Array.from({ length: 8 }, () => append()));
    expect(many.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    await expect(append(20_000)).rejects.toBeInstanceOf(EventStoreUnavailable);
    const large = await Promise.allSettled([append(6000), append(6000), append()]);
    expect(large.map(({ status }) => status === 'fulfilled')).toEqual([true, false, true]);
    expect(await store.count()).toBe(7);
  });

  test('a lock of another process is waited for, but not for ever', async () => {
    const store = open({ maxWaitMs: 400 });
    const other = new DatabaseSync(file());
    other.exec('BEGIN IMMEDIATE');
    await expect(store.append('a.b-1', [event()], 'no-stream')).rejects.toBeInstanceOf(EventStoreUnavailable);
    const pending = store.append('a.b-1', [event()], 'no-stream');
    setTimeout(() => other.exec('COMMIT'), 20);
    expect(await pending).toMatchObject({ revision: 0 });
    expect(await store.count()).toBe(1);
    other.close();
  });

  test('reads go on while another process holds the lock', async () => {
    const store = open();
    await store.append('a.b-1', [event('x')], 'no-stream');
    const other = new DatabaseSync(file());
    other.exec('BEGIN IMMEDIATE');
    for await (const { data } of store.readStream('a.b-1')) expect(data).toBe('x');
    expect(await store.head()).toBe(1);
    other.exec('ROLLBACK');
    other.close();
  });

  test('a file that is no database is refused and left alone', async () => {
    const text = "This is somebody's text. ".repeat(100);
    await writeFile(file(), text);
    expect(() => open()).toThrow(expect.objectContaining({ code: 'sqlite.bad_file', reason: 'damaged' }));
    expect(await readFile(file(), 'utf8')).toBe(text);
  });

  test('a database of something else is refused and left alone', async () => {
    const other = new DatabaseSync(file());
    other.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (1)');
    other.close();
    const before = await readFile(file());
    expect(() => open()).toThrow(DatabaseFileError);
    expect(() => open()).toThrow(expect.objectContaining({ reason: 'foreign' }));
    expect(await readFile(file())).toEqual(before);
    expect(await readdir(folder)).toEqual(['events.db']);
  });

  test('a file from a newer version is refused with both versions in the message', async () => {
    await open().close();
    const other = new DatabaseSync(file());
    other.exec('PRAGMA user_version = 99');
    other.close();
    expect(() => open()).toThrow(/schema version 99 .* knows 1/);
  });

  test('a damaged header is reported at once', async () => {
    const store = open();
    await store.append('a.b-1', [event()], 'no-stream');
    await store.close();
    const bytes = await readFile(file());
    await writeFile(file(), bytes.fill(0x58, 0, 100));
    expect(() => open()).toThrow(expect.objectContaining({ reason: 'damaged' }));
  });

  test('works in memory', async () => {
    const store = open({ path: ':memory:' });
    await store.append('a.b-1', [event()], 'no-stream');
    expect(await store.count()).toBe(1);
  });

  test('more kinds of streams than an index merge takes are read by prefix all the same', async () => {
    const store = open();
    const kind = (index: number): string =>
      `k${'abcdefghijklmnopqrst'[index % 20]}${'x'.repeat(Math.floor(index / 20))}`;
    const names = Array.from({ length: 600 }, (_, index) => `${kind(index)}.${kind(index)}-1`);
    await Promise.all(names.map((name) => store.append(name, [event(name)], 'no-stream')));
    await store.append('other.x-1', [event()], 'no-stream');
    const read = async (prefixes: readonly string[]): Promise<string[]> => {
      const streams: string[] = [];
      for await (const { stream } of store.readAll({ prefixes })) streams.push(stream);
      expect(await store.head(prefixes)).toBe(streams.length === 0 ? 0 : 1 + names.indexOf(streams.at(-1) ?? ''));
      return streams;
    };
    for (const prefix of ['k', 'ka', 'kax', names[599] ?? '', names[0] ?? '', 'kb.kb-', 'nothing']) {
      expect(await read([prefix])).toEqual(names.filter((name) => name.startsWith(prefix)));
    }
  });

  test('a quiet prefix does not read the events of others', async () => {
    const store = open();
    await store.append(
      'busy.x-1',
      Array.from({ length: 1000 }, () => event('x'.repeat(500))),
      'no-stream',
    );
    await store.append('quiet.x-1', [event()], 'no-stream');
    const time = async (prefixes: readonly string[]): Promise<number> => {
      const started = performance.now();
      for (let round = 0; round < 20; round += 1) for await (const _ of store.readAll({ prefixes }));
      return performance.now() - started;
    };
    await time(['quiet.']);
    expect(await time(['quiet.'])).toBeLessThan((await time(['busy.'])) / 10);
  });
});
