import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadStore } from '@bindery/read-store';
import { openMongoReadStore } from '@bindery/read-store/mongodb';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readConfig } from './config.ts';
import {
  instanceKeyCollection,
  KeysMissing,
  keyCheckCollection,
  openInstanceKey,
  WrongMasterKey,
} from './instance-key.ts';
import { fingerprintOf, keySettings, type MasterKeys, masterKeysOf } from './master-key.ts';

const keyOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const [first, second, third] = [keyOf(7), keyOf(8), keyOf(9)];
/** What a release without an instance key left behind, written under `first`. */
const checkOfBefore = '1zDoiKaSruVZ2uUfuPFXRQIPYZ7CDVTFtujpNydy96a0vNpwpwg';
const url = process.env.MONGODB_URL ?? '';

interface Place {
  open(): Promise<ReadStore>;
  dispose(): Promise<void>;
}
const sqlitePlace = async (): Promise<Place> => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-instance-key-'));
  return {
    open: () => openSqliteReadStore({ path: join(folder, 'keys.db'), durable: true }),
    dispose: () => rm(folder, { recursive: true }),
  };
};
const mongoPlace = async (): Promise<Place> => {
  const database = `bindery_test_${randomUUID().replaceAll('-', '')}`;
  const open = () => openMongoReadStore({ url, database, durable: true, timeoutMs: 20_000 });
  return {
    open,
    async dispose() {
      const store = await open();
      for (const spec of [instanceKeyCollection, keyCheckCollection]) await store.drop(spec, 0);
      await store.close();
    },
  };
};

const suite = (newPlace: () => Promise<Place>) => (): void => {
  let place: Place;
  let store: ReadStore;
  const logged: string[] = [];
  /** Of the log of events. */
  let head = 0;
  const logger = {
    info: (message: string) => void logged.push(message),
    warn: (message: string) => void logged.push(message),
  };
  const open = async (keys: MasterKeys, at = store): Promise<string> =>
    Buffer.from(await openInstanceKey(at, keys, { head: async () => head }, logger)).toString('hex');

  beforeAll(async () => {
    place = await newPlace();
  });
  afterAll(() => place.dispose());
  beforeEach(async () => {
    store = await place.open();
    for (const spec of [instanceKeyCollection, keyCheckCollection]) await store.drop(spec, 0);
    await store.close();
    store = await place.open();
    logged.length = 0;
    head = 0;
  });
  afterEach(() => store.close());

  test('a new instance makes a random one, which no master key tells', async () => {
    const made = await open({ current: first });
    expect(made).not.toBe(Buffer.from(first).toString('hex'));
    expect(await open({ current: first })).toBe(made);
    expect(logged).toEqual(['an instance key was made']);
    const kept = await (await store.collection(instanceKeyCollection)).get('instance-key');
    expect(kept?.document).toMatchObject({ under: fingerprintOf(first) });
    expect(JSON.stringify(kept)).not.toContain(Buffer.from(made, 'hex').toString('base64url').slice(0, 12));
  });

  test('processes that start at once agree on one', async () => {
    const others = await Promise.all([place.open(), place.open(), place.open()]);
    const made = await Promise.all([store, ...others].map((one) => open({ current: first }, one)));
    expect(new Set(made).size).toBe(1);
    expect(logged).toEqual(['an instance key was made']);
    await Promise.all(others.map((one) => one.close()));
  });

  test('an instance of a release before keeps its master key as such', async () => {
    const checks = await store.collection<{ readonly wrapped: string }>(keyCheckCollection);
    await checks.compareAndPut('master-key', -1, { wrapped: checkOfBefore });
    head = 1000;
    await expect(open({ current: second })).rejects.toThrow(WrongMasterKey);
    await expect(open({ current: second, previous: third })).rejects.toThrow(/neither MASTER_KEY .* MASTER_KEY_PREV/);
    const adopted = Buffer.from(first).toString('hex');
    expect(await open({ current: first })).toBe(adopted);
    expect(logged).toEqual(['the master key became the instance key']);
    expect(await open({ current: second, previous: first })).toBe(adopted);
    expect(await open({ current: second })).toBe(adopted);
  });

  test('such an instance may replace its master key at once', async () => {
    const checks = await store.collection<{ readonly wrapped: string }>(keyCheckCollection);
    await checks.compareAndPut('master-key', -1, { wrapped: checkOfBefore });
    expect(await open({ current: second, previous: first })).toBe(Buffer.from(first).toString('hex'));
    await expect(open({ current: first })).rejects.toThrow(WrongMasterKey);
  });

  test('another master key wraps it anew, and from then on the former one opens nothing', async () => {
    const made = await open({ current: first });
    expect(await open({ current: second, previous: first })).toBe(made);
    expect(logged).toEqual(['an instance key was made', 'the instance key is wrapped anew']);
    // A process that comes later with what was right before: which key it is, and since when.
    await expect(open({ current: first })).rejects.toThrow(
      new RegExp(`MASTER_KEY \\(${fingerprintOf(first)}\\) is not .* ${fingerprintOf(second)}, since 20`),
    );
    expect(await open({ current: second, previous: first })).toBe(made);
    expect(await open({ current: second, previous: third })).toBe(made);
    expect(await open({ current: second })).toBe(made);
    expect(logged).toHaveLength(2);
  });

  test('it can be taken back while both are set, and by processes that do not agree', async () => {
    const made = await open({ current: first });
    const other = await place.open();
    const forth: MasterKeys = { current: second, previous: first };
    const back: MasterKeys = { current: first, previous: second };
    for (let round = 0; round < 3; round += 1) {
      expect(await Promise.all([open(forth), open(back, other), open(forth, other), open(back)])).toEqual(
        Array.from({ length: 4 }, () => made),
      );
    }
    expect(await open(back)).toBe(made);
    expect(await open({ current: first })).toBe(made);
    await other.close();
  });

  test('processes that replace the master key at once all come up, and one of them wraps', async () => {
    const made = await open({ current: first });
    const others = await Promise.all([place.open(), place.open(), place.open()]);
    const keys = { current: second, previous: first };
    expect(new Set(await Promise.all([store, ...others].map((one) => open(keys, one))))).toEqual(new Set([made]));
    expect(logged.filter((line) => line === 'the instance key is wrapped anew')).toHaveLength(1);
    await Promise.all(others.map((one) => one.close()));
  });

  test('a wrong key is refused, and it is said which', async () => {
    await open({ current: first });
    await expect(open({ current: second })).rejects.toMatchObject({
      code: 'identity.wrong_master_key',
      message: expect.stringMatching(/^MASTER_KEY \([0-9a-f]{8}\) is not the key/),
    });
    await expect(open({ current: second, previous: third })).rejects.toThrow(
      `neither MASTER_KEY (${fingerprintOf(second)}) nor MASTER_KEY_PREVIOUS (${fingerprintOf(third)}) is the key`,
    );
    expect(await open({ current: first, previous: third })).not.toBe('');
  });

  test('with events none is made, unless it is said that the keys are lost', async () => {
    head = 1000;
    await expect(open({ current: first })).rejects.toThrow(KeysMissing);
    await expect(open({ current: first, lost: false })).rejects.toMatchObject({ code: 'identity.keys_missing' });
    expect(logged).toEqual([]);
    const made = await open({ current: first, lost: true });
    expect(await open({ current: first })).toBe(made);
    expect(await open({ current: first, lost: true })).toBe(made);
  });

  test('a process that sees the events of another one before its key waits for neither', async () => {
    const other = await place.open();
    let made = '';
    const events = {
      head: async () => {
        made = await open({ current: first }, other);
        return 1000;
      },
    };
    const mine = await openInstanceKey(store, { current: first }, events, logger);
    expect(Buffer.from(mine).toString('hex')).toBe(made);
    await other.close();
  });

  test('a damaged one is no matter of the master key', async () => {
    await open({ current: first });
    const collection = await store.collection<{ readonly wrapped: string }>(instanceKeyCollection);
    const kept = await collection.get('instance-key');
    const wrapped = `${kept?.document.wrapped.slice(0, -1)}${kept?.document.wrapped.endsWith('A') ? 'Q' : 'A'}`;
    expect(await collection.compareAndPut('instance-key', 0, { ...kept?.document, wrapped })).toBe(true);
    await expect(open({ current: first })).rejects.toThrow(/was damaged/);
  });
};

describe('the instance key, in SQLite', suite(sqlitePlace));
const withServer = url === '' ? describe.skip : describe;
withServer(
  url === '' ? 'SKIPPED: the instance key, in MongoDB (MONGODB_URL is not set)' : 'the instance key, in MongoDB',
  suite(mongoPlace),
);

describe('master keys', () => {
  test('are read from the settings, and have 32 bytes', async () => {
    const read = (given: Readonly<Record<string, string>>) =>
      masterKeysOf({ MASTER_KEY: '07'.repeat(32), ...readConfig(keySettings, given) });
    expect(read({})).toEqual({ current: first, previous: undefined, lost: false });
    const both = { MASTER_KEY_PREVIOUS: '08'.repeat(32), KEYS_LOST: 'true' };
    expect(read(both)).toEqual({ current: first, previous: second, lost: true });
    const place = await sqlitePlace();
    const store = await place.open();
    const logger = { info: () => undefined, warn: () => undefined };
    for (const wrong of [{ current: new Uint8Array(31) }, { current: first, previous: new Uint8Array(33) }])
      await expect(openInstanceKey(store, wrong, { head: async () => 0 }, logger)).rejects.toThrow(RangeError);
    await store.close();
    await place.dispose();
  });
});
