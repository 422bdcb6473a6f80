import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createInProcessClient, eraseHandlers, type OperationContext } from '@bindery/service-kit';
import { createTelemetry } from '@bindery/telemetry';
import { recordingTelemetry } from '@bindery/testing/telemetry';
import { afterEach, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

let instance: FakeInstance | undefined;
afterEach(async () => {
  await instance?.stop();
  instance = undefined;
});

const admission = { inFlight: 8, waiting: 8, waitMs: 400 };
const storeMs = 40;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly ms: number;
}

/** An instance whose store takes its time, and how many requests were at it at once at most. */
const slowInstance = async (store: () => Promise<void>) => {
  const seen = { now: 0, most: 0 };
  const telemetry = await createTelemetry({ service: 'x', version: '1', logLevel: 'error' });
  const started = await startFakeInstance(
    { admission, trustedProxyHops: 1 },
    {
      telemetry,
      resolveToken: async (hash) => ({
        ...{ kind: 'user', id: `u-${hash}`, tokenId: `t-${hash}`, instanceAdmin: true, organizations: {} },
      }),
      services: createInProcessClient(
        eraseHandlers({
          listThings: async () => {
            seen.now += 1;
            seen.most = Math.max(seen.most, seen.now);
            await store();
            seen.now -= 1;
            return { status: 200, body: { items: [], count: 0 } };
          },
          getThingsForAdministrators: async () => ({ status: 200, body: { count: 0 } }),
        }),
      ),
    },
  );
  instance = started;
  /** @param caller a number: each is a user of its own, at an address of its own */
  const get = async (path: string, caller: number): Promise<Answer> => {
    const began = performance.now();
    const from = { authorization: `Bearer secret-${caller}`, 'x-forwarded-for': `192.0.2.${caller}` };
    const response = await fetch(`${started.url}${path}`, { headers: from });
    await response.arrayBuffer();
    const { status, headers } = response;
    return { status, retryAfter: headers.get('retry-after'), ms: performance.now() - began };
  };
  return { seen, get, telemetry };
};

const takesItsTime = () => new Promise<void>((resolve) => setTimeout(resolve, storeMs));

test('three times more than the store can do: the accepted are answered in time, the others at once, memory stays', async () => {
  const { seen, get, telemetry } = await slowInstance(takesItsTime);
  /** Three times as many callers as there are places, each with its next request as soon as it has an answer. */
  const load = async (forMs: number): Promise<readonly Answer[]> => {
    const until = performance.now() + forMs;
    const callers = Array.from({ length: 3 * (admission.inFlight + admission.waiting) }, async (_, caller) => {
      const answers: Answer[] = [];
      while (performance.now() < until) {
        const answer = await get('/v1/things', caller);
        answers.push(answer);
        if (answer.status === 503) await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return answers;
    });
    return (await Promise.all(callers)).flat();
  };
  await load(500);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const answers = await load(2000);
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;

  const accepted = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(new Set(['503 1']));
  expect(accepted.length).toBeGreaterThan(20);
  expect(seen.most).toBe(admission.inFlight);
  // Its turn, the store, and what a busy machine adds.
  expect(Math.max(...accepted.map(({ ms }) => ms))).toBeLessThan(admission.waitMs + storeMs + 3000);
  expect(grown).toBeLessThan(20 * 1024 * 1024);
  const told = /bindery_requests_refused_total\{lane="operations"\} (\d+)/.exec(await telemetry.scrape());
  expect(Number(told?.[1])).toBeGreaterThanOrEqual(refused.length);
  expect(seen.now).toBe(0);
  expect((await get('/v1/things', 1)).status).toBe(200);
}, 30_000);

test('health, metrics and administration are answered while everything else has to wait', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { get, seen } = await slowInstance(() => held);
  const some = Array.from({ length: 30 }, (_, caller) => get('/v1/things', caller));
  // Whoever found no place was told so, and the places are taken.
  expect((await Promise.any(some)).status).toBe(503);
  expect(seen.now).toBe(admission.inFlight);
  const beside = await Promise.all(
    ['/healthz', '/readyz', '/metrics', '/admin/v1/things'].map((path) => get(path, 99)),
  );
  expect(beside.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(seen.now).toBe(admission.inFlight);
  release();
  const counts = Map.groupBy(await Promise.all(some), ({ status }) => status);
  expect(counts.get(200)?.length).toBeGreaterThanOrEqual(admission.inFlight);
  expect([...counts.keys()].sort()).toEqual([200, 503]);
});

test('one that floods takes its share: it is told so, and the others are answered as ever', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let flooded = false;
  const { seen, get, telemetry } = await slowInstance(() => (flooded ? Promise.resolve() : held));
  const some = Array.from({ length: 30 }, () => get('/v1/things', 7));
  // Given one caller that has half of everything under way,
  const first = await Promise.any(some);
  expect([first.status, first.retryAfter]).toEqual([429, '1']);
  expect(seen.now).toBe(admission.inFlight / 2);
  // when others ask one after the other, and as many as are left at once,
  flooded = true;
  for (let caller = 10; caller < 20; caller += 1) expect((await get('/v1/things', caller)).status).toBe(200);
  const others = await Promise.all([1, 2, 3, 4].map((caller) => get('/v1/things', caller)));
  // then all of them are answered.
  expect(others.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  release();
  const counts = Map.groupBy(await Promise.all(some), ({ status }) => status);
  expect([...counts.keys()].sort()).toEqual([200, 429]);
  const told = await telemetry.scrape();
  expect(told).toContain(`bindery_requests_over_share_total{lane="operations"} ${counts.get(429)?.length}\n`);
  expect(told).not.toMatch(/bindery_requests_refused_total\{/);
});

test('what one caller sends at once is not all done before others are heard', async () => {
  // Given a service that waits for nothing, so that a request is done in the turn in which it is begun,
  const begun: string[] = [];
  const started = await startFakeInstance(
    { trustedProxyHops: 1 },
    {
      resolveToken: async (hash) => ({
        ...{ kind: 'user', id: `u-${hash}`, tokenId: `t-${hash}`, instanceAdmin: false, organizations: {} },
      }),
      services: createInProcessClient(
        eraseHandlers({
          listThings: async ({ principal }: OperationContext) => {
            begun.push(principal.id);
            return { status: 200, body: { items: [], count: 0 } };
          },
        }),
      ),
    },
  );
  instance = started;
  /** A connection on which there was a request already, so that it is accepted and its caller known. */
  const open = async (caller: number): Promise<Socket> => {
    const socket = connect(started.port, '127.0.0.1');
    ask(socket, caller);
    await once(socket, 'data');
    return socket;
  };
  const ask = (socket: Socket, caller: number): void => {
    const head = `Host: x\r\nAuthorization: Bearer secret-${caller}\r\nX-Forwarded-For: 192.0.2.${caller}\r\n`;
    socket.write(`GET /v1/things HTTP/1.1\r\n${head}\r\n`);
  };
  const flood: Socket[] = [];
  while (flood.length < 200) flood.push(await open(1));
  const late = await open(2);
  const [flooding, other] = [begun[0], begun.at(-1)];
  begun.length = 0;
  // when 200 requests of one come, and then one of another,
  const answered = [...flood, late].map((socket) => once(socket, 'data'));
  for (const socket of flood) ask(socket, 1);
  ask(late, 2);
  await Promise.all(answered);
  for (const socket of [...flood, late]) socket.destroy();
  // then all are served, and that one among the first.
  expect(begun.filter((id) => id === flooding)).toHaveLength(200);
  expect(begun.indexOf(other ?? '')).toBeGreaterThanOrEqual(0);
  expect(begun.indexOf(other ?? '')).toBeLessThan(100);
});

test('callers that wait and leave are counted as gone, and nobody is warned of them', async () => {
  const telemetry = recordingTelemetry();
  const callers = 6;
  let reached: () => void = () => undefined;
  let release: () => void = () => undefined;
  const isHeld = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  instance = await startFakeInstance(
    { admission: { inFlight: 1, waiting: callers, waitMs: 60_000 }, trustedProxyHops: 1 },
    {
      telemetry,
      services: createInProcessClient(
        eraseHandlers({
          listThings: async () => {
            reached();
            await held;
            return { status: 200, body: { items: [], count: 0 } };
          },
        }),
      ),
      resolveToken: async (hash) => ({
        ...{ kind: 'user', id: `u-${hash}`, tokenId: `t-${hash}`, instanceAdmin: false, organizations: {} },
      }),
    },
  );
  const url = `${instance.url}/v1/things`;
  const sent = (caller: number, signal?: AbortSignal) =>
    fetch(url, {
      headers: { authorization: `Bearer secret-${caller}`, 'x-forwarded-for': `192.0.2.${caller}` },
      ...(signal === undefined ? {} : { signal }),
    });
  const first = sent(0);
  await isHeld;
  try {
    const leaving = new AbortController();
    const waiting = Array.from({ length: callers }, (_, index) => sent(index + 1, leaving.signal));
    const told = Promise.allSettled(waiting);
    const until = async (holds: () => Promise<boolean>): Promise<void> => {
      while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
    };
    await until(async () => {
      const lanes = await telemetry.gauges('bindery_requests_waiting');
      return lanes.some(({ value, labels }) => labels?.lane === 'operations' && value === callers);
    });
    leaving.abort();
    await told;
    const answered = (status: string) =>
      telemetry.counted('bindery_requests_total', { operation: 'listThings', status });
    await until(async () => answered('499') + answered('503') === callers);
    expect(answered('499')).toBe(callers);
  } finally {
    release();
  }
  expect((await first).status).toBe(200);
  expect(telemetry.logs.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
});
