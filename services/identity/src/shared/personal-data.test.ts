import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CollectionSpec, ReadStore } from '@bindery/read-store';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { WrongMasterKey } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKeyStore, type KeyStore } from './key-store.ts';
import { createSealer } from './personal-data.ts';
import { createVault } from './vault.ts';

const vault = createVault(new Uint8Array(32).fill(7));
const person = { email: 'ada@example.org', displayName: 'Ada Łovelace', photoURL: 'https://example.org/a.png' };
let folder: string;
let path: string;
let keys: KeyStore;
let close: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-keys-'));
  path = join(folder, 'keys.db');
  const store = await openSqliteReadStore({ path, durable: true });
  keys = await createKeyStore(store, vault);
  close = () => store.close();
});

afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});

describe('sealed personal data', () => {
  test('comes back whole, and nothing of it shows', async () => {
    const sealer = createSealer(keys);
    const sealed = await sealer.seal('u1', 'e1', person);
    expect(await sealer.open('u1', 'e1', sealed)).toEqual(person);
    const text = JSON.stringify(sealed);
    for (const value of Object.values(person)) {
      expect(text).not.toContain(value);
      expect(text).not.toContain(Buffer.from(value).toString('base64url').slice(0, 12));
    }
  });

  test('fits no other event and no other person, and cannot be changed', async () => {
    const sealer = createSealer(keys);
    const sealed = await sealer.seal('u1', 'e1', person);
    await keys.ensure('u2');
    const bytes = Buffer.from(sealed.sealed, 'base64url');
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    await expect(sealer.open('u1', 'e2', sealed)).rejects.toThrow();
    await expect(sealer.open('u2', 'e1', sealed)).rejects.toThrow();
    await expect(sealer.open('u1', 'e1', { ...sealed, sealed: bytes.toString('base64url') })).rejects.toThrow();
  });

  test('marks are equal for equal values of one person only', async () => {
    const sealer = createSealer(keys);
    const [first, again, other] = await Promise.all([
      sealer.seal('u1', 'e1', person),
      sealer.seal('u1', 'e2', { displayName: person.displayName }),
      sealer.seal('u2', 'e3', person),
    ]);
    expect(again.marks).toEqual({ displayName: first.marks.displayName });
    expect(other.marks.displayName).not.toBe(first.marks.displayName);
  });

  test('is erased with the key', async () => {
    const sealer = createSealer(keys);
    const sealed = await sealer.seal('u3', 'e1', person);
    await keys.destroy('u3');
    await keys.destroy('u3');
    expect(await sealer.open('u3', 'e1', sealed)).toBeUndefined();
    expect(await keys.get('u3')).toBeUndefined();
    // Nobody gets a second key: what is written meanwhile could not be told from what was erased.
    await expect(keys.ensure('u3')).rejects.toMatchObject({ kind: 'not-found' });
    await expect(sealer.seal('u3', 'e2', person)).rejects.toMatchObject({ kind: 'not-found' });
    expect(await sealer.sealKnown('u3', 'e2', person)).toBeUndefined();
  });
});

describe('keys', () => {
  test('are made once, whoever asks at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => keys.ensure('u4')));
    expect(new Set(made.map((key) => key.export().toString('hex'))).size).toBe(1);
  });

  test('survive a restart, and are nowhere in clear', async () => {
    const key = (await keys.ensure('u5')).export();
    const store = await openSqliteReadStore({ path, durable: true });
    const reopened = await createKeyStore(store, vault);
    expect((await reopened.get('u5'))?.export()).toEqual(key);
    await store.close();
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name));
      expect(bytes.includes(key)).toBe(false);
      expect(bytes.includes(key.toString('base64'))).toBe(false);
    }
  });

  test('are refused to another instance key', async () => {
    const store = await openSqliteReadStore({ path, durable: true });
    const other = createVault(new Uint8Array(32).fill(8));
    await expect(createKeyStore(store, other)).rejects.toThrow(WrongMasterKey);
    await store.close();
  });
});

describe('keys in two processes', () => {
  const twoReplicas = async () => {
    const store = await openSqliteReadStore({ path, durable: true });
    let time = 0;
    const asked: string[] = [];
    const watched: ReadStore = {
      ...{ batch: (writes) => store.batch(writes), drop: (spec, generation) => store.drop(spec, generation) },
      ...{ scrub: () => store.scrub(), close: () => store.close() },
      async collection<T>(spec: CollectionSpec, generation?: number) {
        const collection = await store.collection<T>(spec, generation);
        const get: typeof collection.get = (id) => {
          asked.push(id);
          return collection.get(id);
        };
        return new Proxy(collection, {
          get: (target, name) => {
            const value = name === 'get' ? get : Reflect.get(target, name);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        });
      },
    };
    const other = await createKeyStore(watched, vault, { now: () => time });
    const elapse = (ms: number): void => {
      time += ms;
    };
    return { other, asked, elapse, close: () => store.close() };
  };

  test('a person erased in one is forgotten by the other within five seconds, for good', async () => {
    const { other, elapse, close } = await twoReplicas();
    const sealed = await createSealer(keys).seal('u6', 'e1', person);
    const elsewhere = createSealer(other);
    expect(await elsewhere.open('u6', 'e1', sealed)).toEqual(person);
    await keys.destroy('u6');
    elapse(5000);
    expect(await elsewhere.open('u6', 'e1', sealed)).toBeUndefined();
    expect(await other.get('u6')).toBeUndefined();
    await expect(other.ensure('u6')).rejects.toMatchObject({ kind: 'not-found' });
    expect(await elsewhere.sealKnown('u6', 'e2', person)).toBeUndefined();
    await close();
  });

  test('between two looks the store is not asked, and a look does not make the key another one', async () => {
    const { other, asked, elapse, close } = await twoReplicas();
    const key = await other.ensure('u7');
    for (let count = 0; count < 100; count++) await other.get('u7');
    const before = asked.length;
    elapse(4999);
    await other.get('u7');
    expect(asked.length).toBe(before);
    elapse(1);
    expect(await other.get('u7')).toBe(key);
    expect(asked.length).toBe(before + 1);
    await other.get('u7');
    expect(asked.length).toBe(before + 1);
    await close();
  });

  test('an answer from before the erasure brings no key back', async () => {
    const { other, elapse, close } = await twoReplicas();
    await other.ensure('u8');
    elapse(5000);
    const reading = other.get('u8'); // asked before, answered after
    await other.destroy('u8');
    await reading;
    expect(await other.get('u8')).toBeUndefined();
    await close();
  });

  test('while the store cannot be asked there are no keys, however lately there were', async () => {
    const { other, elapse, close } = await twoReplicas();
    await other.ensure('u9');
    await close();
    expect(await other.get('u9')).toBeDefined();
    elapse(5000);
    await expect(other.get('u9')).rejects.toMatchObject({ code: 'read_store.unavailable' });
  });
});

describe('the vault', () => {
  test('derives the same from the same key, and different things for different purposes', () => {
    const same = createVault(new Uint8Array(32).fill(7));
    const other = createVault(new Uint8Array(32).fill(8));
    expect(same.emailDigest('a@b.c')).toBe(vault.emailDigest('a@b.c'));
    expect(other.emailDigest('a@b.c')).not.toBe(vault.emailDigest('a@b.c'));
    expect(same.deriveId('administrator')).toBe(vault.deriveId('administrator'));
    expect(vault.deriveId('administrator')).not.toBe(vault.deriveId('organization'));
    expect(same.secret('a')).toBe(vault.secret('a'));
    expect(vault.secret('a')).not.toBe(vault.secret('b'));
    expect(vault.deriveId('administrator')).toMatch(/^[A-Za-z][A-Za-z0-9]{23}$/);
  });

  test('takes no key of another length', () => {
    expect(() => createVault(new Uint8Array(31))).toThrow(RangeError);
  });
});
