import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cache } from '@bindery/cache';
import { createMemoryCache } from '@bindery/cache/memory';
import type { ReadStore } from '@bindery/read-store';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { noopTelemetry } from '@bindery/telemetry';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createIdempotency, type IdempotencyRequest, type KeptAnswer } from './idempotency.ts';

let folder: string;
let store: ReadStore;
let cache: Cache;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'idempotency-'));
  store = await openSqliteReadStore({ path: join(folder, 'gateway.db') });
  cache = createMemoryCache();
});
afterEach(async () => {
  await cache.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const leaseMs = 1000;
const request: IdempotencyRequest = {
  ...{ key: 'k', principalId: 'u', operationId: 'o', fingerprint: 'f', standing: [], leaseMs },
  mayReplay: async () => undefined,
};
const answer: KeptAnswer = { status: 201, headers: {}, body: 'made' };
/** A gateway whose clock is wrong by so much. */
const gateway = (offMs: number, waitMs = 10_000) =>
  createIdempotency({
    ...{ store, cache, waitMs, sole: false, logger: noopTelemetry().logger },
    clock: { now: () => new Date(Date.now() + offMs) },
  });

describe.each([60_000, -60_000])('gateways whose clocks are %d ms apart', (offMs) => {
  test('a repeat waits for the first request, which is at work', async () => {
    let finish: (kept: KeptAnswer) => void = () => undefined;
    let begun = 0;
    const first = gateway(0).run(request, () => {
      begun += 1;
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    while (begun === 0) await new Promise((resolve) => setImmediate(resolve));
    const other = gateway(offMs, 50);
    await expect(other.run(request, async () => answer)).rejects.toMatchObject({ code: 'idempotency_key.in_use' });
    finish(answer);
    expect(await first).toEqual({ answer, replayed: false });
    expect(await other.run(request, async () => ({ ...answer, body: 'again' }))).toEqual({ answer, replayed: true });
  });

  test('what is never finished is taken over, with the same ids, after the time that it was given', async () => {
    const seeds: string[] = [];
    void gateway(0).run(request, (seed) => {
      seeds.push(seed);
      return new Promise(() => undefined);
    });
    while (seeds.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const began = performance.now();
    const again = await gateway(offMs).run(request, async (seed) => {
      seeds.push(seed);
      return answer;
    });
    expect(again).toEqual({ answer, replayed: false });
    expect(performance.now() - began).toBeGreaterThanOrEqual(leaseMs - 50);
    expect(performance.now() - began).toBeLessThan(leaseMs + 8000);
    expect(seeds[1]).toBe(seeds[0]);
  });
});

test('what another process left long ago is taken over at once', async () => {
  let begun = false;
  void gateway(-300_000).run(request, () => {
    begun = true;
    return new Promise(() => undefined);
  });
  while (!begun) await new Promise((resolve) => setImmediate(resolve));
  expect(await gateway(0, 0).run(request, async () => answer)).toEqual({ answer, replayed: false });
});

test('what a process left that is gone is taken over soon, what one has in hand that is there is not', async () => {
  const long = { ...request, leaseMs: 60_000 };
  const [there, gone, other] = [gateway(0), gateway(0), gateway(0, 6000)];
  await there.start();
  let begun = 0;
  const never = () => {
    begun += 1;
    return new Promise<KeptAnswer>(() => undefined);
  };
  void there.run({ ...long, key: 'there' }, never);
  void gone.run({ ...long, key: 'gone' }, never);
  while (begun < 2) await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([
    expect(other.run({ ...long, key: 'there' }, async () => answer)).rejects.toMatchObject({
      code: 'idempotency_key.in_use',
    }),
    expect(other.run({ ...long, key: 'gone' }, async () => answer)).resolves.toEqual({ answer, replayed: false }),
  ]);
  await there.stop();
});

test('without the cache nobody is gone', async () => {
  const long = { ...request, leaseMs: 60_000 };
  let begun = false;
  void gateway(0).run(long, () => {
    begun = true;
    return new Promise(() => undefined);
  });
  while (!begun) await new Promise((resolve) => setImmediate(resolve));
  const away = {
    get: async () => Promise.reject(new Error('away')),
    set: async () => Promise.reject(new Error('away')),
  };
  const other = createIdempotency({
    ...{ store, cache: away, waitMs: 5000, sole: false, logger: noopTelemetry().logger },
    clock: { now: () => new Date() },
  });
  await other.start();
  await expect(other.run(long, async () => answer)).rejects.toMatchObject({ code: 'idempotency_key.in_use' });
  await other.stop();
});

test('what a gateway of the release before has in hand is its own as long as it was given: it never tells that it is there', async () => {
  const records = await store.collection({
    ...{ name: 'gateway.idempotency', version: 1, indexes: [{ name: 'expires', fields: ['expiresAt'] }] },
  });
  /** As that release wrote it. */
  const taken = async (key: string, lease: number): Promise<void> => {
    const id = hash('sha256', JSON.stringify(['u', 'o', key]), 'hex');
    await records.compareAndPut(id, -1, {
      ...{
        fingerprint: 'f',
        seed: 'theirs',
        holder: '6a0fd4a2-7b53-4b8e-9f6f-4f3b1f8c2f11',
        answer: null,
        standing: [],
      },
      leasedUntil: new Date(Date.now() + lease).toISOString(),
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    });
  };
  await Promise.all([taken('long', 60_000), taken('short', leaseMs)]);
  const seeds: string[] = [];
  const other = gateway(0, 6000);
  await Promise.all([
    expect(other.run({ ...request, key: 'long', leaseMs: 60_000 }, async () => answer)).rejects.toMatchObject({
      code: 'idempotency_key.in_use',
    }),
    other.run({ ...request, key: 'short' }, async (seed) => {
      seeds.push(seed);
      return answer;
    }),
  ]);
  expect(seeds).toEqual(['theirs']);
}, 15_000);
