import { createApiClient } from '@bindery/testing/api';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance, thingOperations } from './testing.ts';

const { createThing, getThing, listThings, getThingPage, pokeThing, deleteThing } = thingOperations;
let instance: FakeInstance;
beforeAll(async () => {
  instance = await startFakeInstance();
});
afterAll(() => instance.stop());

test('the typed client goes through the gateway and checks what comes back', async () => {
  const api = createApiClient({ url: instance.url, token: 'secret', contract: instance.contract });
  const made = await api.call(createThing, { body: { title: 'One' } }, 201);
  const params = { thingId: made.body.id };
  expect((await api.call(getThing, { params }, 200)).body.title).toBe('One');
  expect((await api.call(listThings, { query: { state: ['open', 'closed'], limit: 1 } }, 200)).body.items).toHaveLength(
    1,
  );
  expect((await api.call(getThingPage, { params: { ...params, pagePath: 'a/b%' } }, 200)).body).toEqual({
    path: 'a/b%',
  });
  expect((await api.call(pokeThing, { params }, 200)).body).toEqual({ hard: false });
  expect((await api.call(deleteThing, { params }, 205)).body).toBeUndefined();
  expect(await api.refused(getThing, { params }, 404)).toBe('No such thing.');
  expect(await api.as(null).refused(getThing, { params }, 401)).toMatch(/bearer token/);
  await expect(api.call(getThing, { params }, 200)).rejects.toThrow('getThing answered 404');
});

test('an answer against the contract fails the test', async () => {
  const api = createApiClient({ url: instance.url, token: 'secret', contract: instance.contract });
  // The title is stored as it is, so the fake service breaks its own contract here.
  instance.service.things.set('bad', { title: JSON.parse('7'), owner: null, revision: 0 });
  await expect(api.send(getThing, { params: { thingId: 'bad' } })).rejects.toThrow('answer.title: must be a string');
});
