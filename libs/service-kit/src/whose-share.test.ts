import { EventEmitter } from 'node:events';
import { operation } from '@bindery/contracts';
import { noopTelemetry } from '@bindery/telemetry';
import { expect, test } from '@jest/globals';
import Type from 'typebox';
import { createHttpClient } from './adapters/http-client.ts';
import { createAdmission, type Place } from './admission.ts';
import { createIdSource } from './ids.ts';
import { anonymous, type Principal, servicePrincipal } from './principal.ts';

const limits = { inFlight: 4, waiting: 20, waitMs: 60_000, perCaller: 2 };
/** Places that callers hold and wait for, one each, and who was admitted since. */
const crowded = () => {
  const admission = createAdmission(limits, noopTelemetry().metrics, 'operations');
  const reader = () => new EventEmitter();
  const order: string[] = [];
  const held: Place[] = [];
  const enter = (caller?: string): void => {
    const entering = admission.enter(reader(), caller);
    if (!(entering instanceof Promise)) held.push(entering);
    else
      entering.then(
        (place) => {
          order.push(caller === undefined ? 'nobody' : 'caller');
          held.push(place);
        },
        (error: unknown) => order.push(String(error)),
      );
  };
  const leaveOne = async (): Promise<void> => {
    held.shift()?.leave();
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (let n = 0; n < limits.inFlight + limits.waiting; n += 1) enter(`user ${n}`);
  return { enter, leaveOne, order };
};

test('calls in the course of others are next, however many callers wait, and then in turn with these', async () => {
  const { enter, leaveOne, order } = crowded();
  // The queue is full of callers.
  expect(() => enter('one more')).toThrow(expect.objectContaining({ code: 'instance.busy' }));
  for (let n = 0; n < 3; n += 1) enter();
  for (let n = 0; n < 6; n += 1) await leaveOne();
  expect(order).toEqual(['nobody', 'caller', 'nobody', 'caller', 'nobody', 'caller']);
  while (order.length < limits.waiting + 3) await leaveOne();
});

test('calls in the course of others do not keep callers out, and only so many of them wait', async () => {
  const { enter, leaveOne, order } = crowded();
  for (let n = 0; n < limits.waiting; n += 1) enter();
  expect(() => enter()).toThrow(expect.objectContaining({ code: 'instance.busy' }));
  for (let n = 0; n < 2 * limits.waiting; n += 1) await leaveOne();
  const counted = Map.groupBy(order, (who) => who);
  expect([counted.get('caller')?.length, counted.get('nobody')?.length]).toEqual([limits.waiting, limits.waiting]);
  expect(order.slice(0, 6)).toEqual(['nobody', 'caller', 'nobody', 'caller', 'nobody', 'caller']);
});

const work = operation({
  ...{ id: 'work', owner: 'content', surface: 'internal', method: 'GET', path: '/work', tag: 'x', summary: 'x' },
  access: 'service',
  success: { 200: Type.Unknown() },
});

test.each<readonly [string, Principal, boolean, string | undefined]>([
  ['a user from outside counts as itself', { ...anonymous, id: 'ä b' }, true, encodeURIComponent('ä b')],
  ['all whom nobody knows are not one caller', anonymous, true, undefined],
  ['what a process asks for itself is nobody\u2019s', servicePrincipal('gateway'), true, undefined],
  ['what a service asks in the course of another call is nobody\u2019s', { ...anonymous, id: 'u' }, false, undefined],
])('%s', async (_, principal, fromOutside, caller) => {
  const sent: unknown[] = [];
  const refused = new Error('no service here');
  const client = createHttpClient(
    {
      send: ({ headers }) => {
        sent.push(headers['x-bindery-caller']);
        return Promise.reject(refused);
      },
      close: () => Promise.resolve(),
    },
    { fromOutside },
  );
  const context = {
    ...{ principal, requestId: 'r', now: new Date(), ids: createIdSource('seed'), baseUrl: 'http://docs' },
    signal: new AbortController().signal,
  };
  await expect(client.call(work, context, { params: {}, query: {}, body: undefined })).rejects.toBe(refused);
  expect(sent).toEqual([caller]);
});
