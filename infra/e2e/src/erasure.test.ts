import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteEventStore } from '@bindery/event-store/sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { filesIn, type InProcess, type Person, register, startInProcess } from './in-process.ts';
import { ok, request } from './support.ts';

const marks = ['zanzibarka', 'Quibblethwaite', '203.0.113.77', 'picture-of-erasure'] as const;
const email = 'zanzibarka.person@example.com';

describe('deleting a user', () => {
  let product: InProcess;
  let person: Person;
  let owner: Person;
  let org: string;
  let space: string;

  /** What the marked person sends comes from a marked address. */
  const asPerson = <T>(method: string, path: string, body?: unknown): Promise<T> =>
    request(person, method, path, {
      ...(body === undefined ? {} : { body }),
      headers: {
        'x-forwarded-for': '203.0.113.77',
        ...(method === 'POST' ? { 'idempotency-key': `key-${path}` } : {}),
      },
    }).then((answer) => {
      expect(answer.status).toBeLessThan(300);
      return answer.body as T;
    });

  beforeAll(async () => {
    product = await startInProcess({ TRUSTED_PROXY_HOPS: '1', DENIAL_REPORT_MS: '20' });
    owner = await register(product, 'owner');
    org = (await ok<{ id: string }>(owner, 'POST', '/v1/orgs', { title: 'Stays' })).id;
    const made = await request(product, 'POST', '/admin/v1/users', {
      body: { email, displayName: 'Q. Quibblethwaite', photoURL: 'https://example.com/picture-of-erasure.png' },
      headers: { 'idempotency-key': 'made-once' },
    });
    const { id } = made.body as { id: string };
    const { token } = await ok<{ token: string }>(product, 'POST', `/admin/v1/users/${id}/tokens`, {});
    person = { url: product.url, token, id };
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${id}`, { role: 'admin' });
    space = (await asPerson<{ id: string }>('POST', `/v1/orgs/${org}/spaces`, { title: 'Made by the person' })).id;
    const change = await asPerson<{ id: string }>('POST', `/v1/spaces/${space}/change-requests`, { subject: 'Theirs' });
    await asPerson('POST', `/v1/spaces/${space}/change-requests/${change.id}/content`, {
      changes: [{ operation: 'insert_page', title: 'Page', document: { markdown: 'Text' } }],
    });
    await asPerson('PATCH', `/v1/users/${id}`, { displayName: 'R. Quibblethwaite' });
    await asPerson('POST', `/v1/orgs/${org}/ping`);
  });
  afterAll(() => product.remove());

  /** Everything that can be asked about the person. */
  const answers = async (): Promise<string> => {
    const paths = [
      `/v1/users/${person.id}`,
      `/v1/orgs/${org}/members`,
      `/v1/orgs/${org}/members?search=quibble`,
      `/v1/spaces/${space}/change-requests`,
      `/v1/spaces/${space}/content`,
      `/v1/orgs/${org}/audit-events?limit=100`,
    ];
    const texts = await Promise.all(paths.map(async (path) => (await request(owner, 'GET', path)).text));
    const instance = ['/admin/v1/users?limit=1000', '/admin/v1/audit-events?limit=100', `/v1/users/${person.id}`];
    texts.push(...(await Promise.all(instance.map(async (path) => (await request(product, 'GET', path)).text))));
    const { url } = await ok<{ url: string }>(owner, 'POST', `/v1/orgs/${org}/audit-exports`, {});
    texts.push(await (await fetch(url.replace('localhost', '127.0.0.1'))).text());
    return texts.join('\n');
  };
  const shown = (text: string): readonly string[] =>
    marks.filter((mark) => text.toLowerCase().includes(mark.toLowerCase()));
  /** Files that hold a mark, in any letter case and in either encoding. */
  const stored = (): readonly string[] =>
    filesIn(product.folder).filter((path) => shown(readFileSync(path).toString('latin1')).length > 0);

  test('is refused for those who are needed, by name of the organization', async () => {
    const me = await ok<{ id: string }>(product, 'GET', '/v1/user');
    expect((await request(product, 'DELETE', `/admin/v1/users/${me.id}`)).status).toBe(409);
    const alone = await register(product, 'alone');
    const theirs = await ok<{ id: string }>(alone, 'POST', '/v1/orgs', { title: 'Alone' });
    for (const refused of [
      await request(product, 'DELETE', `/admin/v1/users/${alone.id}`),
      await request(alone, 'DELETE', '/v1/user', { body: { confirmation: 'alone@example.com' } }),
    ]) {
      expect(refused.status).toBe(409);
      expect(refused.text).toContain(theirs.id);
    }
    expect((await request(alone, 'GET', '/v1/user')).status).toBe(200);
    expect((await request(product, 'DELETE', '/admin/v1/users/nobody')).status).toBe(404);
    expect((await request(owner, 'DELETE', `/admin/v1/users/${alone.id}`)).status).toBe(403);
    expect((await request(alone, 'DELETE', '/v1/user', { body: { confirmation: 'owner@example.com' } })).status).toBe(
      400,
    );
  });

  test('leaves nothing of the person: no answer, no file, not after a rebuild, not after a restart', async () => {
    expect(shown(await answers())).toEqual(expect.arrayContaining([...marks.slice(0, 3)]));
    expect(stored()).not.toEqual([]);

    expect((await request(product, 'DELETE', `/admin/v1/users/${person.id}`)).status).toBe(204);
    expect((await request(person, 'GET', '/v1/user')).status).toBe(401);
    const after = await answers();
    expect(shown(after)).toEqual([]);
    expect(after).toContain('Deleted user');
    expect(stored()).toEqual([]);
    expect((await request(product, 'DELETE', `/admin/v1/users/${person.id}`)).status).toBe(204);

    for (const service of product.instance.services) await service.rebuild();
    expect(shown(await answers())).toEqual([]);
    product = await product.restart();
    person = { ...person, url: product.url };
    owner = { ...owner, url: product.url };
    const again = await answers();
    expect(shown(again)).toEqual([]);
    expect(again).toContain('Deleted user');
    expect(stored()).toEqual([]);
  });

  test('keeps what the person did, and does not let it in again', async () => {
    const entries = await ok<{ items: { action: string; actor: { id: string; label: string } }[] }>(
      owner,
      'GET',
      `/v1/orgs/${org}/audit-events?actor=${person.id}`,
    );
    expect(entries.items.map(({ action }) => action)).toContain('space.created');
    expect(new Set(entries.items.map(({ actor }) => actor.label))).toEqual(new Set(['Deleted user']));
    const back = await request(product, 'PUT', `/admin/v1/orgs/${org}/members/${person.id}`, {
      body: { role: 'read' },
    });
    expect(back.status).toBe(404);
    expect((await request(product, 'PATCH', `/v1/users/${person.id}`, { body: { displayName: 'Back' } })).status).toBe(
      404,
    );
    expect((await request(product, 'POST', `/admin/v1/users/${person.id}/tokens`, { body: {} })).status).toBe(404);
  });

  test('frees the email for a new account, which is somebody else', async () => {
    const anew = await register(product, 'New one', email);
    expect(anew.id).not.toBe(person.id);
    expect(await ok(anew, 'GET', '/v1/user')).toMatchObject({ displayName: 'New one', email });
    const gone = await request(anew, 'DELETE', '/v1/user', { body: { confirmation: email.toUpperCase() } });
    expect(gone.status).toBe(204);
    expect((await request(anew, 'GET', '/v1/user')).status).toBe(401);
    expect(shown(await answers())).toEqual([]);
  });

  test('is completed by the service when the process died right after it was decided', async () => {
    const half = await register(product, 'half-erased');
    await ok(product, 'PUT', `/admin/v1/orgs/${org}/members/${half.id}`, { role: 'read' });
    await product.stop();
    const store = openSqliteEventStore({ path: join(product.folder, 'identity', 'events.db') });
    const stream = `identity.user-${half.id}`;
    let last = -1;
    for await (const { revision } of store.readStream(stream)) last = revision;
    const time = new Date().toISOString();
    const metadata = { correlationId: 'c', causationId: 'c', schemaVersion: 1, time } as const;
    await store.append(
      stream,
      [
        {
          id: randomUUID(),
          type: 'UserErased',
          data: { userId: half.id, erasedAt: time },
          metadata: { ...metadata, actor: { kind: 'service', id: 'service:identity' } },
        },
      ],
      last,
    );
    await store.close();
    product = await product.restart();
    const gone = { ...half, url: product.url };
    for (const until = performance.now() + 10_000; performance.now() < until; ) {
      if ((await request(gone, 'GET', '/v1/user')).status === 401) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await request(gone, 'GET', '/v1/user')).status).toBe(401);
    expect((await request({ ...owner, url: product.url }, 'GET', `/v1/orgs/${org}/members/${half.id}`)).status).toBe(
      404,
    );
    for (const until = performance.now() + 10_000; performance.now() < until; ) {
      const freed = await request(product, 'POST', '/admin/v1/users', {
        body: { email: 'half-erased@example.com', displayName: 'Whole' },
      });
      if (freed.status === 201) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('the email was not freed');
  });
});
