import { createMemoryCache } from '@bindery/cache/memory';
import { noopTelemetry } from '@bindery/telemetry';
import { until } from '@bindery/testing/event-sourcing';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { commandMetadata, deriveEventId } from '../index.ts';
import { Bell } from './bell.ts';
import { Gate } from './gate.ts';
import { asStored } from './json.ts';
import { withLease } from './lease.ts';
import { Backoff, pauseUntilBeat, superviseLoop } from './loop.ts';
import { Lru } from './lru.ts';

const { logger } = noopTelemetry();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a bell', () => {
  const { signal } = new AbortController();

  test('wakes everybody who waits, once, and nobody who comes later', async () => {
    const bell = new Bell();
    bell.ring();
    let woken = 0;
    const count = (): void => {
      woken += 1;
    };
    const both = Promise.all([bell.next(signal).then(count), bell.next(signal).then(count)]);
    await turn();
    expect(woken).toBe(0);
    bell.ring();
    bell.ring();
    await both;
    expect(woken).toBe(2);
    void bell.next(signal).then(count);
    await turn();
    expect(woken).toBe(2);
  });

  test('wakes at the end of the wait and when it is given up, and keeps nobody then', async () => {
    const bell = new Bell();
    const over = new AbortController();
    await bell.next(signal, 1);
    const waiting = bell.next(over.signal);
    over.abort();
    await waiting;
    await bell.next(over.signal);
    bell.ring();
  });
});

test('those who look equally often look at the same moments', async () => {
  const { signal } = new AbortController();
  const at: number[] = [];
  const look = async (): Promise<void> => {
    await pauseUntilBeat(50, signal);
    at.push(Math.floor(performance.now() / 50));
  };
  const first = look();
  await turn();
  await Promise.all([first, look()]);
  expect(at[0]).toBe(at[1]);
});

describe('what is stored', () => {
  test('is what `asStored` answers, for anything that has a JSON form', () => {
    fc.assert(
      fc.property(
        fc.object({ withDate: true, withSparseArray: true, withNullPrototype: true, maxDepth: 4 }),
        (value) => {
          expect(JSON.stringify(asStored(value))).toBe(JSON.stringify(value));
          expect(asStored(value)).toEqual(JSON.parse(JSON.stringify(value)));
        },
      ),
    );
  });

  test('plain JSON is not copied; what is not has no JSON form is refused', () => {
    const plain = { a: [1, 'x', null, { b: true }] };
    expect(asStored(plain)).toBe(plain);
    expect(asStored({ a: undefined, b: 1 })).toStrictEqual({ b: 1 });
    expect(asStored({ at: new Date(0), n: -0, nan: Number.NaN })).toStrictEqual({
      at: '1970-01-01T00:00:00.000Z',
      n: 0,
      nan: null,
    });
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(() => asStored(cycle)).toThrow(TypeError);
    expect(() => asStored(1n)).toThrow(TypeError);
    expect(() => asStored(undefined)).toThrow(TypeError);
  });
});

describe('event ids', () => {
  test('are UUIDs, the same for the same cause and name, others otherwise', () => {
    const id = deriveEventId('11111111-1111-4111-8111-111111111111', 'a');
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(deriveEventId('11111111-1111-4111-8111-111111111111', 'a')).toBe(id);
    expect(deriveEventId('11111111-1111-4111-8111-111111111111', 'b')).not.toBe(id);
    expect(deriveEventId('11111111-1111-4111-8111-111111111112', 'a')).not.toBe(id);
  });

  test('keep the time of the id that they are derived from', () => {
    const cause = '0197a3b2-c4d5-7111-8111-111111111111';
    expect(deriveEventId(cause, 'a').slice(0, 13)).toBe(cause.slice(0, 13));
    expect(deriveEventId('no uuid', 'a')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test('and everything else that the metadata of a command holds come from the request', () => {
    const metadata = commandMetadata(
      {
        principal: { kind: 'user', id: 'u1', tokenId: 't1', instanceAdmin: false, organizations: {} },
        requestId: 'r1',
        now: new Date(0),
        ids: { id: () => 'i', eventId: () => 'e' },
        signal: new AbortController().signal,
        baseUrl: 'http://localhost',
      },
      'o1',
    );
    expect(metadata).toMatchObject({
      correlationId: 'r1',
      causationId: 'r1',
      actor: { kind: 'user', id: 'u1' },
      organizationId: 'o1',
      now: new Date(0),
    });
    expect(metadata.eventId()).toBe('e');
    expect('traceparent' in metadata).toBe(false);
  });
});

describe('a gate', () => {
  test('lets many pass and one close it, in turn', async () => {
    const gate = new Gate();
    const log: string[] = [];
    const first = Promise.withResolvers<void>();
    const passing = [
      gate.pass(() => first.promise.then(() => void log.push('pass 1'))),
      gate.pass(() => first.promise.then(() => void log.push('pass 2'))),
    ];
    let alone = true;
    const closing = ['close 1', 'close 2'].map((name) =>
      gate.close(async () => {
        alone &&= log.length >= 2;
        await turn();
        log.push(name);
      }),
    );
    const later = gate.pass(async () => void log.push('pass 3'));
    await turn();
    expect(log).toEqual([]);
    first.resolve();
    await Promise.all([...passing, ...closing, later]);
    expect(alone).toBe(true);
    expect(log).toEqual(['pass 1', 'pass 2', 'close 1', 'close 2', 'pass 3']);
  });

  test('never has a passer and a closer inside together', async () => {
    const gate = new Gate();
    let passers = 0;
    let closers = 0;
    const work = Array.from({ length: 200 }, (_, index) =>
      index % 5 === 0
        ? gate.close(async () => {
            closers += 1;
            expect([passers, closers]).toEqual([0, 1]);
            await turn();
            closers -= 1;
          })
        : gate.pass(async () => {
            passers += 1;
            expect(closers).toBe(0);
            if (index % 3 === 0) await turn();
            passers -= 1;
          }),
    );
    await Promise.all(work);
  });
});

describe('a lease', () => {
  const options = { key: 'k', termMs: 300, logger };

  test('is held by one, renewed while the work lasts, and released after it', async () => {
    const cache = createMemoryCache();
    const never = new AbortController().signal;
    const work = Promise.withResolvers<void>();
    let lost = false;
    const first = withLease({ ...options, cache, holder: 'a' }, never, async ({ signal }) => {
      signal.addEventListener('abort', () => {
        lost = true;
      });
      await work.promise;
    });
    const began = performance.now();
    await until('two terms have passed', () => performance.now() - began > 650);
    expect(await withLease({ ...options, cache, holder: 'b' }, never, async () => undefined)).toBe(false);
    work.resolve();
    expect(await first).toBe(true);
    expect(lost).toBe(false);
    expect(await withLease({ ...options, cache, holder: 'b' }, never, async () => undefined)).toBe(true);
  });

  test('says so when it is lost, and when it cannot be renewed in time', async () => {
    const never = new AbortController().signal;
    const cache = createMemoryCache();
    await withLease({ ...options, cache, holder: 'a' }, never, async ({ signal }) => {
      await cache.release('k', 'a');
      await cache.acquire('k', 'thief', 10_000);
      await until('it knows', () => signal.aborted);
    });
    const silent = createMemoryCache();
    const failing = { ...silent, renew: async () => Promise.reject(new Error('away')) };
    await withLease({ ...options, cache: failing, holder: 'a' }, never, async ({ signal }) => {
      await until('it knows', () => signal.aborted);
    });
  });
});

describe('a supervised loop', () => {
  test('begins again after a failure and after an end, and ends when told', async () => {
    const stop = new AbortController();
    const failures: number[] = [];
    let turns = 0;
    await superviseLoop(
      {
        name: 'test',
        logger,
        signal: stop.signal,
        firstMs: 1,
        mostMs: 2,
        onFailure: (_error, count) => failures.push(count),
      },
      async (_signal, succeeded) => {
        turns += 1;
        if (turns === 3) succeeded();
        if (turns === 6) stop.abort();
        if (turns % 2 === 1) throw new Error('odd');
      },
    );
    expect(turns).toBe(6);
    expect(failures).toEqual([1, 1, 3]);
  });

  test('waits longer each time, within a bound', () => {
    const backoff = new Backoff(100, 1000);
    const waits = Array.from({ length: 6 }, () => backoff.next());
    for (const [index, wait] of waits.entries()) {
      const full = Math.min(100 * 2 ** index, 1000);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }
    backoff.reset();
    expect(backoff.next()).toBeLessThanOrEqual(100);
  });
});

test('a bounded map forgets what was used longest ago', () => {
  const map = new Lru<number>(2);
  map.set('a', 1);
  map.set('b', 2);
  expect(map.get('a')).toBe(1);
  map.set('c', 3);
  expect([map.peek('a'), map.peek('b'), map.peek('c')]).toEqual([1, undefined, 3]);
});
