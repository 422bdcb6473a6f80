import type { Principal } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeInstance, startFakeInstance } from './testing.ts';

let instance: FakeInstance;
beforeAll(async () => {
  instance = await startFakeInstance({ duplicateWaitMs: 400 });
  instance.service.token('other');
});
afterAll(() => instance.stop());

const post = (path: string, key: string, body: unknown, token = 'secret') =>
  fetch(`${instance.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(body),
  });
const called = (id: string): number => instance.service.calls.get(id) ?? 0;

describe('Idempotency-Key', () => {
  test('a repeat gets the same answer and does nothing', async () => {
    const first = await post('/v1/things', 'same', { title: 'A' });
    const before = called('createThing');
    const second = await post('/v1/things', 'same', { title: 'A' });
    expect([second.status, await second.text()]).toEqual([first.status, await first.text()]);
    for (const name of ['etag', 'location']) expect(second.headers.get(name)).toBe(first.headers.get(name));
    expect([first.headers.get('idempotent-replayed'), second.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(called('createThing')).toBe(before);
  });
  test('the same key with another body is refused', async () => {
    await post('/v1/things', 'reused', { title: 'A' });
    const second = await post('/v1/things', 'reused', { title: 'B' });
    expect([second.status, await second.json()]).toEqual([
      409,
      { error: { code: 409, message: 'Idempotency-Key: was used before with another request' } },
    ]);
  });
  test('keys belong to a caller and an operation', async () => {
    const answers = [
      await post('/v1/things', 'shared', { title: 'A' }),
      await post('/v1/things', 'shared', { title: 'B' }, 'other'),
      await post('/v1/uploads', 'shared', { text: 'C' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200]);
  });
  test('refusals of the input are kept; conflicts and failures of ours are not', async () => {
    expect((await post('/v1/misbehave', 'refused', { how: 'invalid' })).headers.get('idempotent-replayed')).toBeNull();
    const refused = await post('/v1/misbehave', 'refused', { how: 'invalid' });
    expect([refused.status, refused.headers.get('idempotent-replayed')]).toEqual([400, 'true']);
    const before = called('misbehave');
    for (const [at, how] of ['throw', 'outage', 'conflict'].entries())
      for (let round = 1; round <= 2; round += 1) {
        const answer = await post('/v1/misbehave', `failed-${how}`, { how });
        expect([how, answer.headers.get('idempotent-replayed')]).toEqual([how, null]);
        expect(called('misbehave')).toBe(before + 2 * at + round);
      }
  });
  test('a kept answer is for who still sees the space', async () => {
    const send = () => post('/v1/spaces/s1/things', 'in-space', {});
    const first = await (await send()).json();
    const again = await send();
    expect([again.headers.get('idempotent-replayed'), await again.json()]).toEqual(['true', first]);
    instance.service.closed.add('s1');
    const closed = await send();
    expect([closed.status, await closed.json()]).toEqual([404, { error: { code: 404, message: 'No such space.' } }]);
    instance.service.closed.delete('s1');
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    expect(called('postInSpace')).toBe(1);
  });
  test('a caller who lost a role has the work decided anew, with the same ids; more roles change nothing', async () => {
    const { service } = instance;
    const as = (organizations: Principal['organizations']) => service.token('member', { organizations });
    const send = () => post('/v1/spaces/s2/things', 'standing', {}, 'member');
    const before = called('postInSpace');
    as({ o1: { role: 'edit', teams: ['t1', 't2'] } });
    const first = await (await send()).json();
    as({ o1: { role: 'edit', teams: ['t2', 't1'] }, o2: { role: 'read', teams: [] } });
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    for (const organizations of [{ o1: { role: 'read', teams: ['t1', 't2'] } }, {}] as const) {
      as(organizations);
      const anew = await send();
      expect([anew.headers.get('idempotent-replayed'), await anew.json()]).toEqual([null, first]);
    }
    expect(called('postInSpace') - before).toBe(3);
  });
  test('a duplicate waits for the first', async () => {
    instance.service.hold();
    const before = called('misbehave');
    const first = post('/v1/misbehave', 'twins', { how: 'slow' });
    while (called('misbehave') === before) await new Promise((resolve) => setImmediate(resolve));
    const second = post('/v1/misbehave', 'twins', { how: 'slow' });
    instance.service.release();
    const [a, b] = await Promise.all([first, second]);
    expect([a.status, b.status, called('misbehave') - before]).toEqual([200, 200, 1]);
    expect(await b.json()).toEqual(await a.json());
  });
  test('but not for ever', async () => {
    instance.service.hold();
    const before = called('misbehave');
    const first = post('/v1/misbehave', 'long', { how: 'slow' });
    while (called('misbehave') === before) await new Promise((resolve) => setImmediate(resolve));
    expect((await post('/v1/misbehave', 'long', { how: 'slow' })).status).toBe(409);
    instance.service.release();
    expect((await first).status).toBe(200);
  });
  test('20 at once: the work is done once', async () => {
    const before = called('createThing');
    const answers = await Promise.all(Array.from({ length: 20 }, () => post('/v1/things', 'herd', { title: 'A' })));
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect([new Set(bodies).size, called('createThing') - before]).toEqual([1, 1]);
  });
  test('answers survive a restart', async () => {
    const first = await (await post('/v1/things', 'kept', { title: 'A' })).text();
    instance = await instance.restart();
    const second = await post('/v1/things', 'kept', { title: 'A' });
    expect([second.headers.get('idempotent-replayed'), Object(await second.json()).id]).toEqual([
      'true',
      JSON.parse(first).id,
    ]);
  });
  test('work that a crash cut short is done again with the same ids', async () => {
    const { service } = instance;
    service.hold();
    service.made.length = 0;
    const lost = post('/v1/misbehave', 'crash', { how: 'slow' }).catch(() => undefined);
    while (service.made.length < 1) await new Promise((resolve) => setImmediate(resolve));
    // A second process on the same store, while the first one never answers.
    const { store, cache } = instance;
    const other = await startFakeInstance({}, { stateStore: store, cache }, { service, folder: '/nonexistent' });
    const again = fetch(`${other.url}/v1/misbehave`, {
      method: 'POST',
      headers: { authorization: 'Bearer secret', 'content-type': 'application/json', 'idempotency-key': 'crash' },
      body: '{"how":"slow"}',
    });
    while (service.made.length < 2) await new Promise((resolve) => setImmediate(resolve));
    service.release();
    expect((await again).status).toBe(200);
    expect(service.made[1]).toEqual(service.made[0]);
    await lost;
    await other.gateway.stop();
  });
});
