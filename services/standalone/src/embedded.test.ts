import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DataDirectoryInUse } from './adapters/data-lock.ts';
import type { Embedded } from './compose.ts';
import { createEmbedded } from './embedded.ts';
import type { ImportDocs } from './import-docs.ts';
import { newFolder, request, settingsFor, testToken } from './testing.ts';

const bootstrapEnv = { BINDERY_BOOTSTRAP_TOKEN: testToken };
let folder: string;

beforeAll(async () => {
  folder = await newFolder();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the whole product in one process', () => {
  let instance: Embedded;
  let time = Date.parse('2026-01-31T09:30:00.000Z');
  const call = (method: string, path: string, body?: unknown, token = testToken) =>
    request(instance.address, token, method, path, body);

  beforeAll(async () => {
    instance = await createEmbedded(settingsFor(join(folder, 'whole'), bootstrapEnv), {
      clock: { now: () => new Date(time) },
    });
  });
  afterAll(() => instance.stop());

  test('serves its administrator', async () => {
    expect(instance).toMatchObject({ first: true, token: testToken });
    expect(await readFile(instance.tokenFile, 'utf8')).toBe(`${testToken}\n`);
    const user = await call('GET', '/v1/user');
    expect(user).toMatchObject({ status: 200, body: { object: 'user', email: 'admin@localhost' } });
    expect(user.headers.get('etag')).not.toBeNull();
    const organizations = await call('GET', '/v1/orgs');
    expect(organizations.body).toMatchObject({ count: 1, items: [{ title: 'My organization' }] });
    expect((await call('GET', '/readyz')).status).toBe(200);
    const status = await call('GET', '/admin/v1/status');
    expect(status.body).toMatchObject({ ready: true, services: [{ service: 'identity' }, { service: 'content' }] });
  });

  test('lets in whom the administrator lets in, with users put into members', async () => {
    const created = await call('POST', '/admin/v1/users', { email: 'ada@example.org', displayName: 'Ada' });
    expect(created.status).toBe(201);
    const userId = String(created.body.id);
    const issued = await call('POST', `/admin/v1/users/${userId}/tokens`, {});
    const token = String(issued.body.token);
    const [organization] = (await call('GET', '/v1/orgs')).body.items as { id: string }[];
    const path = `/v1/orgs/${organization?.id}`;
    expect((await call('GET', path, undefined, token)).status).toBe(404);
    const member = await call('PUT', `/admin${path}/members/${userId}`, { role: 'read' });
    expect(member.body).toMatchObject({ id: userId, role: 'read', user: { id: userId, displayName: 'Ada' } });
    expect((await call('GET', path, undefined, token)).status).toBe(200);
    expect((await call('POST', `${path}/spaces`, { title: 'S' }, token)).status).toBe(403);
    await call('PUT', `/admin${path}/members/${userId}`, { role: 'create' });
    const space = await call('POST', `${path}/spaces`, { title: 'S' }, token);
    expect(space.status).toBe(201);
    await call('PATCH', `/v1/users/${userId}`, { displayName: 'Ada L.' }, token);
    const listed = (await call('GET', `${path}/members?search=ada`)).body.items;
    expect(listed).toMatchObject([{ user: { displayName: 'Ada L.' } }]);
    expect((await call('GET', '/admin/v1/users', undefined, token)).status).toBe(403);
    expect((await call('DELETE', `/admin/v1/users/${userId}/tokens/${issued.body.id}`)).status).toBe(205);
    expect((await call('GET', '/v1/user', undefined, token)).status).toBe(401);
  });

  test('ends a token when the clock says so', async () => {
    const me = String((await call('GET', '/v1/user')).body.id);
    const expiresAt = new Date(time + 60_000).toISOString();
    const issued = await call('POST', `/admin/v1/users/${me}/tokens`, { expiresAt });
    const token = String(issued.body.token);
    expect((await call('GET', '/v1/user', undefined, token)).status).toBe(200);
    time += 60_000;
    expect((await call('GET', '/v1/user', undefined, token)).status).toBe(401);
    expect((await call('GET', '/v1/user')).status).toBe(200);
  });

  test('holds its data directory alone', async () => {
    await expect(createEmbedded(settingsFor(join(folder, 'whole')))).rejects.toThrow(DataDirectoryInUse);
    expect((await call('GET', '/v1/user')).status).toBe(200);
  });
});

describe('starting again', () => {
  test('finds everything, with a token that is set later', async () => {
    const path = join(folder, 'again');
    const first = await createEmbedded(settingsFor(path));
    const own = first.token ?? '';
    const before = await request(first.address, own, 'GET', '/v1/user');
    expect(await first.stop()).toEqual([]);
    expect(await first.stop()).toEqual([]);
    const second = await createEmbedded(settingsFor(path, bootstrapEnv));
    expect(second.first).toBe(false);
    for (const token of [own, testToken])
      expect((await request(second.address, token, 'GET', '/v1/user')).body.id).toBe(before.body.id);
    await second.stop();
  });

  test('is refused with another master key, and possible with the right one', async () => {
    const path = join(folder, 'keys');
    const first = await createEmbedded(settingsFor(path));
    await first.stop();
    const wrong = createEmbedded(settingsFor(path, { MASTER_KEY: 'ab'.repeat(32) }));
    await expect(wrong).rejects.toMatchObject({ code: 'identity.wrong_master_key' });
    const second = await createEmbedded(settingsFor(path));
    await second.stop();
  });

  test('leaves nothing open when the port is taken', async () => {
    const path = join(folder, 'port');
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(0, '127.0.0.1', resolve);
    });
    const { port } = taken.address() as { port: number };
    await expect(createEmbedded(settingsFor(path, { PORT: String(port) }))).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    taken.close();
    const instance = await createEmbedded(settingsFor(path, { PORT: String(port), ...bootstrapEnv }));
    expect((await request(instance.address, testToken, 'GET', '/v1/user')).status).toBe(200);
    await instance.stop();
  });

  test('makes the search index anew when it cannot be used', async () => {
    const path = join(folder, 'search');
    await mkdir(join(path, 'content'), { recursive: true });
    const damaged = join(path, 'content', 'search.db');
    await writeFile(damaged, 'this is no database, and it is long enough for one to be looked at as such. '.repeat(20));
    const instance = await createEmbedded(settingsFor(path, bootstrapEnv));
    expect((await request(instance.address, testToken, 'GET', '/readyz')).status).toBe(200);
    await instance.stop();
  });
});

describe('the documentation of the first start', () => {
  test('is imported once, through the address of the instance', async () => {
    const path = join(folder, 'docs');
    const calls: string[] = [];
    const importDocs: ImportDocs = async ({ url, token, title }) => {
      calls.push(title);
      expect((await request(url, token, 'GET', '/v1/user')).status).toBe(200);
    };
    const settings = settingsFor(path, { IMPORT_DOCS: 'true' });
    for (let start = 0; start < 2; start += 1) {
      const instance = await createEmbedded(settings, { importDocs });
      await instance.imported;
      await instance.stop();
    }
    expect(calls).toEqual(['Bindery documentation']);
  });

  test('is taken up again after an interruption, and not after a failure', async () => {
    const path = join(folder, 'docs-again');
    const settings = settingsFor(path, { IMPORT_DOCS: 'true' });
    const outcomes: string[] = [];
    const interrupted = await createEmbedded(settings, {
      importDocs: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            outcomes.push('interrupted');
            reject(signal.reason);
          });
        }),
    });
    await interrupted.stop();
    const importDocs: ImportDocs = async () => {
      outcomes.push('failed');
      throw new Error('no');
    };
    for (let start = 0; start < 2; start += 1) {
      const instance = await createEmbedded(settings, { importDocs });
      await instance.imported;
      await instance.stop();
    }
    expect(outcomes).toEqual(['interrupted', 'failed']);
  });
});
