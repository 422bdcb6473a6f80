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
    product = await startProduct({ keep: true, env: { LOG_LEVEL: 'debug' } });
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

    await product.stop('SIGTERM');
    const found = { token: [] as string[], administrator: [] as string[], person: [] as string[] };
    for (const path of filesIn(product.dataDir)) {
      const bytes = readFileSync(path);
      if (bytes.includes(token)) found.token.push(path);
      if (bytes.includes(product.token)) found.administrator.push(path);
      if (bytes.includes('marker.person') || bytes.includes('Marker Person')) found.person.push(path);
    }
    const short = (paths: readonly string[]): string[] => paths.map((path) => path.slice(product.dataDir.length + 1));
    expect(short(found.token)).toEqual([]);
    expect(short(found.administrator)).toEqual(['admin-token']);
    // Read models may hold it: they are made again, without it, once the person's key is gone.
    expect(short(found.person).filter((path) => !/^(identity\/read|gateway\/state)\.db/.test(path))).toEqual([]);
  });
});
