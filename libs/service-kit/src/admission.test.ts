import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import { operation } from '@bindery/contracts';
import { createTelemetry, type Telemetry } from '@bindery/telemetry';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createRemoteService } from './adapters/remote-service.ts';
import { createServiceListener } from './adapters/service-listener.ts';
import { createTransport } from './adapters/transport.ts';
import { type AdmissionLimits, createAdmission, type Place } from './admission.ts';
import { createTurns, type Share } from './fair-turns.ts';
import { createIdSource } from './ids.ts';
import { eraseHandlers } from './operation.ts';
import { servicePrincipal } from './principal.ts';

let telemetry: Telemetry;
beforeEach(async () => {
  telemetry = await createTelemetry({ service: 'x', version: '1', logLevel: 'error' });
});
const admissionOf = (limits: Partial<AdmissionLimits>) =>
  createAdmission({ inFlight: 2, waiting: 2, waitMs: 60_000, ...limits }, telemetry.metrics, 'operations');
const reader = () => new EventEmitter();
const busy = { kind: 'unavailable', code: 'instance.busy', retryAfter: 1 };
const overShare = { kind: 'rate-limited', code: 'rate.share', retryAfter: 1 };
const figure = async (name: string): Promise<number> =>
  Number(new RegExp(`^bindery_${name}\\{lane="operations"\\} (\\d+)$`, 'm').exec(await telemetry.scrape())?.[1] ?? 0);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** A place that is there at once. */
const now = (entered: Place | Promise<Place>): Place => {
  if (entered instanceof Promise) throw new Error('there was no place');
  return entered;
};

test('places first, then a queue in order, then refusals', async () => {
  const admission = admissionOf({});
  const [one, two] = ['a', 'b'].map((caller) => now(admission.enter(reader(), caller)));
  const order: string[] = [];
  const waiting = ['c', 'd'].map(async (caller) => {
    await admission.enter(reader(), caller);
    order.push(caller);
  });
  expect(() => admission.enter(reader(), 'e')).toThrow(expect.objectContaining(busy));
  expect(await figure('requests_refused_total')).toBe(1);
  expect(await figure('requests_waiting')).toBe(2);
  expect(await figure('request_callers')).toBe(4);
  one?.leave();
  await waiting[0];
  expect(order).toEqual(['c']);
  two?.leave();
  await waiting[1];
  expect(order).toEqual(['c', 'd']);
  expect(await figure('requests_in_flight')).toBe(2);
});

test('a place that is given back twice is given back once', async () => {
  const admission = admissionOf({});
  const place = now(admission.enter(reader(), 'a'));
  now(admission.enter(reader(), 'b'));
  place.leave();
  place.leave();
  expect(await figure('requests_in_flight')).toBe(1);
});

test('nobody waits longer than was said, and whoever goes leaves no place behind', async () => {
  const admission = admissionOf({ inFlight: 1, waitMs: 20 });
  const place = now(admission.enter(reader(), 'a'));
  await expect(admission.enter(reader(), 'b')).rejects.toMatchObject(busy);
  const impatient = reader();
  const gone = admission.enter(impatient, 'b');
  impatient.emit('close');
  await expect(gone).rejects.toMatchObject({ code: 'caller.gone' });
  expect(impatient.listenerCount('close')).toBe(0);
  expect(await figure('requests_waiting')).toBe(0);
  expect(await figure('request_callers')).toBe(1);
  place.leave();
  now(admission.enter(reader(), 'b'));
});

test('whoever goes between its turn and its going on leaves no place behind', async () => {
  const admission = admissionOf({ inFlight: 1, waiting: 8 });
  const place = now(admission.enter(reader(), 'a'));
  const readers = ['b', 'b', 'c'].map((caller) => ({ caller, reader: reader() }));
  const entering = readers.map((one) => admission.enter(one.reader, one.caller));
  const told = Promise.allSettled(entering);
  // As those of one connection that breaks: each leaves its place to the next one, which goes in the same turn.
  place.leave();
  for (const one of readers) one.reader.emit('close');
  expect((await told).map((one) => one.status === 'rejected' && one.reason.code)).toEqual(Array(3).fill('caller.gone'));
  expect(readers.map((one) => one.reader.listenerCount('close'))).toEqual([0, 0, 0]);
  expect([await figure('requests_in_flight'), await figure('requests_waiting')]).toEqual([0, 0]);
  expect(() => admission.enter(Object.assign(reader(), { destroyed: true }), 'd')).toThrow(
    expect.objectContaining({ code: 'caller.gone' }),
  );
  now(admission.enter(reader(), 'd'));
});

test('of what comes at once a caller begins a few in each turn of the event loop, and others are not kept waiting', async () => {
  const admission = admissionOf({ inFlight: 400, waiting: 400, perCaller: 200 });
  const order: string[] = [];
  const flood = Array.from({ length: 100 }, async () => {
    await admission.enter(reader(), 'flood');
    order.push('flood');
  });
  now(admission.enter(reader(), 'other')).leave();
  expect(await figure('requests_in_flight')).toBeLessThanOrEqual(64);
  await Promise.all(flood);
  expect(await figure('requests_in_flight')).toBe(100);
  expect(await figure('requests_waiting')).toBe(0);
});

test('without a queue nobody waits, for a turn neither', () => {
  const admission = admissionOf({ inFlight: 100, waiting: 0, perCaller: 5 });
  for (let count = 0; count < 5; count += 1) now(admission.enter(reader(), 'a'));
  expect(() => admission.enter(reader(), 'a')).toThrow(expect.objectContaining(overShare));
});

test('whoever waits for answers to its own requests may wait longer', async () => {
  const admission = admissionOf({ inFlight: 8, waiting: 8, waitMs: 60, perCaller: 1 });
  const place = now(admission.enter(reader(), 'a'));
  const own = admission.enter(reader(), 'a');
  await new Promise((resolve) => setTimeout(resolve, 120));
  place.leave();
  (await own).leave();
  now(admission.enter(reader(), 'a'));
  await expect(admission.enter(reader(), 'a')).rejects.toMatchObject(overShare);
});

describe('the share of a caller', () => {
  test('is what is free for others, and no more than the limit: the others find places', async () => {
    const admission = admissionOf({ inFlight: 12, waiting: 0, perCaller: 5 });
    for (let count = 0; count < 5; count += 1) {
      now(admission.enter(reader(), 'flood'));
      await turn();
    }
    expect(() => admission.enter(reader(), 'flood')).toThrow(expect.objectContaining(overShare));
    for (let count = 0; count < 4; count += 1) {
      await turn();
      now(admission.enter(reader(), 'second'));
    }
    await turn();
    // Three are left: as many as the second has and more.
    expect(() => admission.enter(reader(), 'second')).toThrow(expect.objectContaining(overShare));
    for (const caller of ['c', 'd', 'e']) now(admission.enter(reader(), caller));
    expect(() => admission.enter(reader(), 'f')).toThrow(expect.objectContaining(busy));
    expect(await figure('requests_over_share_total')).toBe(2);
    expect(await figure('requests_refused_total')).toBe(1);
  });

  test('of the queue is half of what is left of it, and whoever has least under way is next', async () => {
    const admission = admissionOf({ inFlight: 4, waiting: 8 });
    const flood = [1, 2].map(() => now(admission.enter(reader(), 'flood')));
    const places = ['b', 'c'].map((caller) => now(admission.enter(reader(), caller)));
    const order: string[] = [];
    const wait = (name: string) =>
      Promise.resolve(admission.enter(reader(), name.slice(0, 1))).then((place) => {
        order.push(name);
        return place;
      });
    const queued = ['flood', 'flood', 'flood', 'flood'].map(() => admission.enter(reader(), 'flood'));
    expect(() => admission.enter(reader(), 'flood')).toThrow(expect.objectContaining(overShare));
    const others = ['b1', 'b2', 'x1'].map(wait);
    // b has one under way, x none.
    flood[0]?.leave();
    await others[2];
    expect(order).toEqual(['x1']);
    places[0]?.leave();
    await others[0];
    flood[1]?.leave();
    const next = await Promise.race(queued);
    // The last place is for somebody who has none.
    places[1]?.leave();
    expect(now(admission.enter(reader(), 'y'))).toBeDefined();
    expect(order).toEqual(['x1', 'b1']);
    for (const wanted of [others[0], others[2]]) (await wanted)?.leave();
    await others[1];
    expect(order).toEqual(['x1', 'b1', 'b2']);
    next?.leave();
    await Promise.all(queued.map(async (entered) => (await entered).leave()));
  });

  test('is that of whoever turns out to have asked', async () => {
    const admission = admissionOf({ inFlight: 8, waiting: 1, perCaller: 2 });
    const [one, two, three] = ['at', 'at', 'from'].map((caller) => now(admission.enter(reader(), caller)));
    expect(one?.countFor('ada')).toBeUndefined();
    expect(two?.countFor('ada')).toBeUndefined();
    expect(two?.countFor('ada')).toBeUndefined();
    const waits = three?.countFor('ada');
    expect(waits).toBeInstanceOf(Promise);
    await turn();
    const four = now(admission.enter(reader(), 'at'));
    expect(() => four.countFor('ada')).toThrow(expect.objectContaining(overShare));
    four.leave();
    expect(await figure('requests_in_flight')).toBe(2);
    one?.leave();
    await waits;
    expect(await figure('requests_in_flight')).toBe(2);
    two?.leave();
    three?.leave();
    expect(await figure('requests_in_flight')).toBe(0);
    await turn();
    expect(await figure('request_callers')).toBe(0);
  });

  test('is as large as there are places where nobody asked', async () => {
    const admission = admissionOf({ inFlight: 4, waiting: 2, perCaller: 1 });
    const places = Array.from({ length: 4 }, () => now(admission.enter(reader())));
    const waiting = [admission.enter(reader()), admission.enter(reader())];
    expect(waiting).toEqual([expect.any(Promise), expect.any(Promise)]);
    expect(() => admission.enter(reader())).toThrow(expect.objectContaining(busy));
    for (const place of places) place.leave();
    await Promise.all(waiting);
  });
});

test('whatever comes and goes, places are neither lost nor given twice, and nobody is forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(6), fc.constantFrom('a', 'b', 'c', 'd', undefined), fc.nat(20)), { maxLength: 80 }),
      async (steps) => {
        let onTurn: (() => void) | undefined;
        const begun = new Map<string | undefined, number>();
        const endTurn = (): void => {
          const work = onTurn;
          onTurn = undefined;
          begun.clear();
          work?.();
        };
        const turns = createTurns({ places: 8, queue: 6, perCaller: 5 }, (work) => {
          onTurn = work;
        });
        const begin = (share: Share): void => {
          held.push(share);
          begun.set(share.caller, (begun.get(share.caller) ?? 0) + 1);
        };
        const held: Share[] = [];
        const queued: { readonly share: Share; readonly admit: () => void }[] = [];
        const enter = (caller: string | undefined): void => {
          const share = turns.shareOf(caller);
          if (turns.take(share)) begin(share);
          else if (turns.mayQueue(share)) {
            const entry = {
              share,
              admit: () => {
                queued.splice(queued.indexOf(entry), 1);
                begin(share);
              },
            };
            queued.push(entry);
            turns.queue(share, entry.admit);
          } else turns.forget(share);
        };
        for (const [kind, caller, which] of steps) {
          const place = held[which % Math.max(1, held.length)];
          const entry = queued[which % Math.max(1, queued.length)];
          if (kind === 0 && place !== undefined) {
            held.splice(held.indexOf(place), 1);
            turns.give(place);
          } else if (kind === 1 && entry !== undefined) {
            queued.splice(queued.indexOf(entry), 1);
            turns.unqueue(entry.share, entry.admit);
          } else if (kind === 2) endTurn();
          else enter(caller);
          expect([turns.taken, turns.queued]).toEqual([held.length, queued.length]);
          expect(held.length).toBeLessThanOrEqual(8);
          const known = [...held, ...queued.map(({ share }) => share)].map(({ caller: name }) => name);
          expect(turns.callers).toBe(new Set([...known, ...begun.keys()]).size);
          // Whoever waits does so because everything is taken or its own share is, or for its next turn.
          for (const { share } of queued)
            expect(turns.taken === 8 || turns.isOverShare(share) || begun.get(share.caller) === 2).toBe(true);
        }
        for (const share of held.splice(0)) turns.give(share);
        while (held.length > 0 || queued.length > 0) {
          endTurn();
          for (const share of held.splice(0)) turns.give(share);
        }
        endTurn();
        expect([turns.taken, turns.queued, turns.callers]).toEqual([0, 0, 0]);
      },
    ),
  );
});

describe('a service', () => {
  test('says that it did not begin what it has no place for, so that another replica is asked; administration has one', async () => {
    const work = operation({
      ...{ id: 'work', owner: 'content', surface: 'internal', method: 'POST', path: '/w', tag: 'x', summary: 'x' },
      access: 'service',
      success: { 200: Type.Unknown() },
    });
    const waiting: (() => void)[] = [];
    const service = {
      ...{
        name: 'content',
        notReady: () => [],
        status: async () => ({ service: 'content', events: 7, projections: [] }),
      },
      handlers: eraseHandlers({
        work: async () => {
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { status: 200, body: null };
        },
      }),
      rebuild: () => Promise.reject(new Error('not asked here')),
    };
    const options = { service, rawRoutes: [], tokens: ['token'], telemetry, ending: () => false };
    const listen = async () => {
      const server = createServer(
        createServiceListener({ ...options, admission: { inFlight: 1, waiting: 0, waitMs: 1000 } }),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const address = server.address();
      return { server, url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}` };
    };
    const [one, two] = [await listen(), await listen()];
    const transport = createTransport({ urls: [one.url, two.url], token: 'token' });
    const client = createHttpClient(transport);
    const context = {
      ...{ principal: servicePrincipal('gateway'), requestId: 'r', now: new Date(), ids: createIdSource('seed') },
      ...{ signal: new AbortController().signal, baseUrl: 'http://docs' },
    };
    const ask = () => client.call(work, context, { params: {}, query: {}, body: undefined });
    try {
      const first = [ask(), ask()];
      while (waiting.length < 2) await new Promise((resolve) => setImmediate(resolve));
      await expect(ask()).rejects.toMatchObject({ kind: 'unavailable', code: 'service.busy', retryAfter: 1 });
      expect(await createRemoteService('content', transport).status()).toMatchObject({ events: 7 });
      expect(waiting).toHaveLength(2);
      for (const go of waiting) go();
      expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    } finally {
      await transport.close();
      for (const { server } of [one, two]) {
        server.closeAllConnections();
        server.close();
      }
    }
  });
});
