import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Running, startProduct } from '@bindery/testing/product';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ok, request } from './support.ts';

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

/** What must not be found on disk, and where it may be. */
describe('secrets and personal data on disk', () => {
  let product: Running;
  beforeAll(async () => {
    product = await startProduct({
      keep: true,
      env: { LOG_LEVEL: 'debug', TRUSTED_PROXY_HOPS: '1', DENIAL_REPORT_MS: '20' },
    });
  });
  afterAll(async () => {
    await product.stop('SIGKILL');
    rmSync(product.dataDir, { recursive: true, force: true });
  });

  test('a repeated request gets the same token, no store knows it, and events hold no personal data', async () => {
    const user = await ok<{ id: string }>(product, 'POST', '/admin/v1/users', {
      email: 'marker.person@example.com',
      displayName: 'Marker Person',
    });
    const create = () =>
      request(product, 'POST', `/admin/v1/users/${user.id}/tokens`, {
        body: { name: 'laptop' },
        headers: { 'idempotency-key': 'one-token' },
      });
    const [first, second] = [await create(), await create()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.text).toBe(first.text);
    const { token } = first.body as { token: string };
    const mine = await ok<{ id: string }>({ url: product.url, token }, 'GET', '/v1/user');
    expect(mine.id).toBe(user.id);

    // What the audit is told: a wrong token, the address of a caller, an address of an export.
    const wrong = 'bnd_pat_wrongwrongwrongwrongwrongwrongwrongwrongw';
    const from = { 'x-forwarded-for': '198.51.100.231' };
    expect((await request({ url: product.url, token: wrong }, 'GET', '/v1/user', { headers: from })).status).toBe(401);
    const refused = await request({ url: product.url, token }, 'GET', '/admin/v1/users', { headers: from });
    expect(refused.status).toBe(403);
    const [org] = (await ok<{ items: { id: string }[] }>(product, 'GET', '/v1/orgs')).items;
    const exported = await request(product, 'POST', `/v1/orgs/${org?.id}/audit-exports`, {
      body: {},
      headers: { ...from, 'idempotency-key': 'one-export' },
    });
    const ticket = (exported.body as { url: string }).url.split('/').at(-1) ?? '';
    expect(ticket.length).toBeGreaterThan(40);
    await request(product, 'PATCH', `/v1/users/${user.id}`, {
      body: { displayName: 'Marker Person 2' },
      headers: from,
    });

    await product.stop('SIGTERM');
    const found = {
      audit: [] as string[],
      token: [] as string[],
      administrator: [] as string[],
      person: [] as string[],
    };
    for (const path of filesIn(product.dataDir)) {
      const bytes = readFileSync(path);
      if ([wrong, '198.51.100.231', ticket].some((mark) => bytes.includes(mark))) found.audit.push(path);
      if (bytes.includes(token)) found.token.push(path);
      if (bytes.includes(product.token)) found.administrator.push(path);
      if (bytes.includes('marker.person') || bytes.includes('Marker Person')) found.person.push(path);
    }
    const short = (paths: readonly string[]): string[] => paths.map((path) => path.slice(product.dataDir.length + 1));
    expect(short(found.audit)).toEqual([]);
    expect(short(found.token)).toEqual([]);
    expect(short(found.administrator)).toEqual(['admin-token']);
    // Read models may hold it: they are made again, without it, once the person's key is gone.
    expect(short(found.person).filter((path) => !/^(identity\/read|gateway\/state)\.db/.test(path))).toEqual([]);
  });
});
