import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { outcomeOf } from './run.ts';

const preflight = (environment: Readonly<Record<string, string>>) =>
  outcomeOf(process.execPath, [fileURLToPath(new URL('../compose/preflight.mjs', import.meta.url))], {
    env: environment,
    timeoutMs: 20_000,
  });
const known = {
  SERVICE_TOKEN: 'for-a-laptop-only-service-token-000000',
  MASTER_KEY: `${'0'.repeat(60)}dead`,
  S3_SECRET_ACCESS_KEY: 'for-a-laptop-only-s3-secret',
};

test('the secrets of the repository are for this machine alone', async () => {
  expect((await preflight({ ...known, PUBLIC_URL: 'http://localhost:3000' })).code).toBe(0);
  const refused = await preflight({ ...known, PUBLIC_URL: 'https://docs.example.com' });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('SERVICE_TOKEN, MASTER_KEY, S3_SECRET_ACCESS_KEY');
});

test('with secrets of its own an instance may be reached by others, and a missing address is no such', async () => {
  const own = { SERVICE_TOKEN: 'a'.repeat(40), MASTER_KEY: 'b'.repeat(64), PUBLIC_URL: 'https://docs.example.com' };
  expect((await preflight(own)).code).toBe(0);
  expect((await preflight({ ...own, MASTER_KEY: known.MASTER_KEY })).code).toBe(1);
  expect((await preflight({ ...own, MASTER_KEY_PREVIOUS: 'c'.repeat(64) })).code).toBe(0);
  expect((await preflight({ ...own, MASTER_KEY_PREVIOUS: known.MASTER_KEY })).stderr).toContain('MASTER_KEY_PREVIOUS');
  expect((await preflight({ ...own, SERVICE_TOKENS_ACCEPTED: known.SERVICE_TOKEN })).code).toBe(1);
  expect((await preflight({ ...own, PUBLIC_URL: 'localhost' })).code).toBe(1);
});
