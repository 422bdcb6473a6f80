import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ChangeFeed, GroupCommit, openDatabase } from './index.ts';

let folder = '';
let db: DatabaseSync;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-kit-'));
  db = openDatabase({
    path: join(folder, 'kit.db'),
    kind: 'test file',
    applicationId: 7,
    migrations: ['CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT'],
  });
});
afterEach(async () => {
  if (db.isOpen) db.close();
  await rm(folder, { recursive: true });
});
const names = (): unknown[] =>
  db
    .prepare('SELECT name FROM t ORDER BY id')
    .all()
    .map((row) => row.name);

describe('group commit', () => {
  class Unavailable extends Error {}
  const open = (): GroupCommit =>
    new GroupCommit(db, { unavailable: (message, cause) => new Unavailable(message, { cause }) });
  const insert = (name: string, check: () => void = () => undefined) => ({
    bytes: 1,
    check,
    write: () => Number(db.prepare('INSERT INTO t (name) VALUES (?)').run(name).lastInsertRowid),
  });

  test('a write that breaks a constraint fails alone', async () => {
    const commits = open();
    const results = await Promise.allSettled(
      ['a', 'b', 'a', 'c', 'c', 'd'].map((name) => commits.submit(insert(name))),
    );
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(names()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('a write that throws after having written is undone, the others stay', async () => {
    const commits = open();
    const failing = {
      bytes: 1,
      check: () => undefined,
      write: () => {
        db.exec(`INSERT INTO t (name) VALUES ('half')`);
        throw new TypeError('bug');
      },
    };
    const results = await Promise.allSettled([
      commits.submit(insert('a')),
      commits.submit(failing),
      commits.submit(insert('b')),
    ]);
    expect(results[1]).toMatchObject({ status: 'rejected', reason: expect.any(TypeError) });
    expect(names()).toEqual(['a', 'b']);
  });

  test('a check sees what earlier writes of the same commit wrote', async () => {
    const commits = open();
    const seen: unknown[] = [];
    await Promise.all([commits.submit(insert('a')), commits.submit(insert('b', () => seen.push(...names())))]);
    expect(seen).toEqual(['a']);
  });

  test('a failing disk is reported to everybody', async () => {
    const commits = open();
    const pending = [commits.submit(insert('a')), commits.submit(insert('b'))];
    db.close();
    for (const result of await Promise.allSettled(pending)) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
    }
  });
});

describe('change feed', () => {
  test('wakes those whom the news concern, once each, and keeps nothing', async () => {
    const feed = new ChangeFeed(db, 1000);
    const woken: string[] = [];
    const wait = (key: string): Promise<void> => feed.changedSince(feed.mark(key)).then(() => void woken.push(key));
    const waits = [wait('a'), wait('b'), wait('a')];
    expect(feed.waiting).toBe(3);
    feed.notify('a');
    await Promise.all([waits[0], waits[2]]);
    expect(woken).toEqual(['a', 'a']);
    feed.notifyAll();
    await waits[1];
    expect(feed.waiting).toBe(0);
  });

  test('news between the mark and the wait are not missed', async () => {
    const feed = new ChangeFeed(db, 1000);
    const mark = feed.mark('a', 'b');
    feed.notify('b');
    expect(feed.isCurrent(mark)).toBe(false);
    await feed.changedSince(mark);
    expect(feed.waiting).toBe(0);
  });

  test('an abort and a time limit end the wait without a trace', async () => {
    const feed = new ChangeFeed(db, 1000);
    const abort = new AbortController();
    const waits = [feed.changedSince(feed.mark('a'), abort.signal), feed.changedSince(feed.mark('a'), undefined, 5)];
    await waits[1];
    expect(feed.waiting).toBe(1);
    abort.abort();
    await waits[0];
    expect(feed.waiting).toBe(0);
    await feed.changedSince(feed.mark('a'), abort.signal);
  });

  test('notices a commit of another connection', async () => {
    const feed = new ChangeFeed(db, 2);
    const mark = feed.mark('a');
    const other = new DatabaseSync(join(folder, 'kit.db'));
    other.exec(`INSERT INTO t (name) VALUES ('x')`);
    await feed.changedSince(mark);
    expect(feed.isCurrent(mark)).toBe(false);
    other.close();
  });
});
