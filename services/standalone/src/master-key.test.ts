import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeyStore, createVault } from '@bindery/identity';
import type { ReadStore } from '@bindery/read-store';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { instanceKeyCollection, parseMasterKey } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Embedded } from './compose.ts';
import { dataPaths } from './data-paths.ts';
import { createEmbedded } from './embedded.ts';
import { newFolder, request, settingsFor, testToken } from './testing.ts';

const fileText = 'Bytes of a file.\n';
let folder: string;
let instance: Embedded | undefined;
beforeAll(async () => {
  folder = await newFolder();
});
afterAll(async () => {
  await instance?.stop();
  await rm(folder, { recursive: true, force: true });
});

const start = async (dataDir: string, env: Readonly<Record<string, string>> = {}): Promise<void> => {
  await instance?.stop();
  instance = undefined;
  instance = await createEmbedded(settingsFor(dataDir, { BINDERY_BOOTSTRAP_TOKEN: testToken, ...env }));
};
const call = (method: string, path: string, body?: unknown) =>
  request(instance?.address ?? '', testToken, method, path, body);
const get = async (address: string): Promise<string> => {
  const { pathname, search } = new URL(address);
  return (await fetch(`${instance?.address.replace('localhost', '127.0.0.1')}${pathname}${search}`)).text();
};

/** What the instance hands out: a person, cursors of lists of both services, the address of a file. */
const write = async () => {
  const ada = (await call('POST', '/admin/v1/users', { email: 'ada@example.org', displayName: 'Ada' })).body.id;
  const organization = String(Object((await call('GET', '/v1/orgs')).body.items)[0]?.id);
  const spaces = `/v1/orgs/${organization}/spaces`;
  const space = (await call('POST', spaces, { title: 'One', empty: true })).body.id;
  await call('POST', spaces, { title: 'Two', empty: true });
  const change = (await call('POST', `/v1/spaces/${space}/change-requests`, { subject: 'Files' })).body.id;
  await call('POST', `/v1/spaces/${space}/change-requests/${change}/content`, {
    changes: [
      {
        operation: 'insert_files',
        files: [{ name: 'a.txt', contentType: 'text/plain', base64: Buffer.from(fileText).toString('base64') }],
      },
    ],
  });
  await call('POST', `/v1/spaces/${space}/change-requests/${change}/merge`);
  const files = (await call('GET', `/v1/spaces/${space}/content/files`)).body.items;
  const next = async (path: string) => `${path}&page=${Object((await call('GET', path)).body.next).page}`;
  return {
    ada: String(ada),
    download: String(Object(files)[0]?.downloadURL),
    lists: [await next(`${spaces}?limit=1`), await next('/admin/v1/users?limit=1')],
  };
};
const expectAll = async ({ ada, download, lists }: Awaited<ReturnType<typeof write>>): Promise<void> => {
  expect((await call('GET', `/v1/users/${ada}`)).body).toMatchObject({ displayName: 'Ada', email: 'ada@example.org' });
  expect((await call('POST', '/admin/v1/users', { email: 'ada@example.org', displayName: 'Eve' })).status).toBe(409);
  expect(await get(download)).toBe(fileText);
  for (const list of lists) expect(await call('GET', list)).toMatchObject({ status: 200, body: { items: [{}] } });
};

describe('replacing the master key of a data directory', () => {
  test('whose key is a file: put it away and start with what was in it', async () => {
    const path = join(folder, 'file');
    const file = join(path, 'master.key');
    await start(path);
    const before = await write();
    await expectAll(before);
    await instance?.stop();
    instance = undefined;
    const old = (await readFile(file, 'utf8')).trim();
    await rename(file, join(folder, 'old.key'));
    // Forgotten: a key that is none of this instance is refused, and does no harm.
    await expect(start(path)).rejects.toMatchObject({ code: 'identity.wrong_master_key' });
    await start(path, { MASTER_KEY_PREVIOUS: old });
    await expectAll(before);
    expect((await readFile(file, 'utf8')).trim()).not.toBe(old);
    await start(path);
    await expectAll(before);
    await expect(start(path, { MASTER_KEY: old })).rejects.toMatchObject({ code: 'identity.wrong_master_key' });
  });

  test('does not bring lost keys back: their loss is told apart from a new instance', async () => {
    const path = join(folder, 'lost');
    await start(path);
    const { ada } = await write();
    await instance?.stop();
    instance = undefined;
    for (const file of ['keys.db', 'keys.db-wal', 'keys.db-shm'])
      await rm(join(path, 'identity', file), { force: true });
    await expect(start(path)).rejects.toMatchObject({ code: 'identity.keys_missing' });
    await start(path, { KEYS_LOST: 'true' });
    expect((await call('GET', `/v1/users/${ada}`)).status).toBe(200);
    await start(path);
    expect((await call('GET', '/v1/orgs')).body).toMatchObject({ count: 1 });
  });

  test('that a release without an instance key made', async () => {
    const path = join(folder, 'upgraded');
    const old = 'ab'.repeat(32);
    const keysOf = async (work: (store: ReadStore) => Promise<unknown>): Promise<void> => {
      await mkdir(join(path, 'identity'), { recursive: true });
      const store = await openSqliteReadStore({ path: dataPaths(path).keys, durable: true });
      await work(store);
      await store.close();
    };
    // Such a release wrapped a text and the keys of users with what comes from the master key itself, and kept no other key.
    await keysOf((store) => createKeyStore(store, createVault(parseMasterKey(old))));
    await start(path, { MASTER_KEY: old });
    const before = await write();
    await instance?.stop();
    instance = undefined;
    await keysOf((store) => store.drop(instanceKeyCollection, 0));

    await start(path, { MASTER_KEY: old });
    await expectAll(before);
    await start(path, { MASTER_KEY: 'cd'.repeat(32), MASTER_KEY_PREVIOUS: old });
    await expectAll(before);
    await start(path, { MASTER_KEY: 'cd'.repeat(32) });
    await expectAll(before);
  });
});
