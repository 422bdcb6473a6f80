import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createContract, operations } from '@bindery/contracts';
import { type CloudEvent, type MessageBus, serviceTopic } from '@bindery/message-bus';
import { openEmbeddedMessageBus } from '@bindery/message-bus/embedded';
import { openKafkaMessageBus } from '@bindery/message-bus/kafka';
import { type Running, startProduct, testedProfile } from '@bindery/testing/product';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, ok, request } from './support.ts';

interface Made {
  readonly id: string;
}
type AdminOperation =
  | 'listParkedKeys'
  | 'listDeadLetters'
  | 'releaseParkedKey'
  | 'discardDeadLetter'
  | 'listParkedStreams'
  | 'listInstanceAuditEvents';

const contract = createContract(operations);
const topic = serviceTopic('identity');
const group = 'content-grants';

/** What operators do about a message that its consumer cannot handle, through the gateway, on the profile that is tested. */
describe('a parked key', () => {
  let product: Running;
  let bus: MessageBus;
  let organizationId: string;
  let spaceId: string;
  let userId: string;

  const openBus = (): MessageBus =>
    testedProfile() === 'distributed'
      ? openKafkaMessageBus({ brokers: (process.env.KAFKA_BROKERS ?? '').split(',') })
      : openEmbeddedMessageBus({ path: join(product.dataDir, 'bus.db') });

  beforeAll(async () => {
    product = await startProduct();
    bus = openBus();
    const { items } = await ok<{ items: readonly Made[] }>(product, 'GET', '/v1/orgs');
    organizationId = items[0]?.id ?? '';
    spaceId = (await ok<Made>(product, 'POST', `/v1/orgs/${organizationId}/spaces`, { title: 'Handbook' })).id;
    const person = { email: 'grace@example.com', displayName: 'Grace' };
    userId = (await ok<Made>(product, 'POST', '/admin/v1/users', person)).id;
    await ok(product, 'PUT', `/admin/v1/orgs/${organizationId}/members/${userId}`, { role: 'read' });
    await ok(product, 'POST', `/v1/spaces/${spaceId}/permissions`, { role: 'edit', users: [userId] });
    // Until then nobody knows what is parked, and the answer is 503.
    await until('the group has joined', async () => (await ask('listParkedKeys', `/parked-keys`)).status === 200);
  }, 180_000);
  afterAll(async () => {
    await bus?.close();
    await product?.stop();
  }, 60_000);

  const ask = async (operation: AdminOperation, path: string, body?: object): Promise<Answer> => {
    const { method } = operations[operation];
    const answer = await request(product, method, `/admin/v1${path}`, { body });
    expect(contract.checkResponse(operation, answer.status, answer.body)).toEqual([]);
    return answer;
  };
  const address = (key: string): string => `/parked-keys/${group}/${topic}/${key}`;
  const parked = async (): Promise<readonly Record<string, unknown>[]> =>
    Object((await ask('listParkedKeys', `/parked-keys?group=${group}`)).body).items;
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    for (const end = performance.now() + 30_000; !(await holds()); ) {
      if (performance.now() > end) throw new Error(`not within 30 s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  /** That the member left, as of a time; one that is none cannot be recorded with what follows from it. */
  const removal = (time: string): CloudEvent => ({
    specversion: '1.0',
    id: randomUUID(),
    source: '/services/identity',
    type: 'bindery.identity.member.removed.v1',
    subject: userId,
    time,
    datacontenttype: 'application/json',
    dataschema: 'https://example.com/member-removed',
    organizationid: organizationId,
    correlationid: randomUUID().replaceAll('-', ''),
    data: { organizationId, userId, removedAt: '2026-03-01T12:00:00.000Z' },
  });

  test('is listed with its letters, waits on while its cause lasts, and goes on when that is gone', async () => {
    expect(await parked()).toEqual([]);
    const early = '2026-03-01T12:00:00.000Z';
    const sent = [removal('never'), removal(early), removal(early)];
    await bus.publish(
      topic,
      sent.map((event) => ({ key: userId, event })),
    );
    await until('all three wait', async () => (await parked())[0]?.letters === 3);
    const [known] = await parked();
    expect(known).toMatchObject({ service: 'content', group, topic, key: userId, attempts: 5, releasing: false });
    expect(known?.reason).toMatch(/5 attempts/);

    const letters = Object((await ask('listDeadLetters', `${address(userId)}/letters?limit=2`)).body);
    const rest = await ask(
      'listDeadLetters',
      `${address(userId)}/letters?limit=2&page=${encodeURIComponent(letters.next.page)}`,
    );
    const all: Record<string, unknown>[] = [...letters.items, ...Object(rest.body).items];
    // The first is no event of the catalogue: its content is not shown.
    expect(all.map(({ attempts, event }) => [attempts, Object(event).id])).toEqual([
      [5, undefined],
      [0, sent[1]?.id],
      [0, sent[2]?.id],
    ]);
    expect(all[1]).toMatchObject({ event: { data: { organizationId, userId } } });

    await until('it has failed again', async () => {
      const { body } = await ask('releaseParkedKey', `${address(userId)}/release`);
      return Object(body).state === 'parked';
    });
    expect(await parked()).toMatchObject([{ key: userId, letters: 3, since: known?.since }]);

    await ok(product, 'DELETE', `/v1/spaces/${spaceId}/permissions/users/${userId}`);
    await ask('releaseParkedKey', `${address(userId)}/release`);
    await until('nothing waits any more', async () => (await parked()).length === 0);
    expect((await ask('releaseParkedKey', `${address(userId)}/release`)).status).toBe(404);
    expect((await ask('listDeadLetters', `${address(userId)}/letters`)).status).toBe(404);
  }, 90_000);

  test('stands in the audit with who asked for its release', async () => {
    const { items } = Object((await ask('listInstanceAuditEvents', '/audit-events?action=recovery.asked')).body);
    expect(items.length).toBeGreaterThanOrEqual(2);
    expect(items[0]).toMatchObject({
      actor: { type: 'user' },
      target: { type: 'parked-key', id: userId },
      payload: { details: { service: 'content', owner: group, topic } },
    });
  });

  test('goes on without a letter that is given up, and the audit says why', async () => {
    // Given a key whose first letter can never be handled,
    const sent = [removal('never'), removal('2026-03-01T12:00:00.000Z')];
    await ok(product, 'POST', `/v1/spaces/${spaceId}/permissions`, { role: 'edit', users: [userId] });
    await bus.publish(
      topic,
      sent.map((event) => ({ key: userId, event })),
    );
    await until('both wait', async () => (await parked())[0]?.letters === 2);
    const { items } = Object((await ask('listDeadLetters', `${address(userId)}/letters`)).body);
    const discard = (offset: string) =>
      ask('discardDeadLetter', `${address(userId)}/letters/${offset}/discard`, { reason: 'its time is none' });
    // when the one behind it is given up, then that is refused;
    expect((await discard(items[1].offset)).status).toBe(409);
    // when it is itself, then the one behind it is handled and nothing waits any more.
    expect((await discard(items[0].offset)).status).toBe(200);
    await until('nothing waits any more', async () => (await parked()).length === 0);
    expect((await discard(items[0].offset)).status).toBe(404);
    const audit = await ask('listInstanceAuditEvents', '/audit-events?action=recovery.discard-asked');
    expect(Object(audit.body).items).toMatchObject([
      {
        actor: { type: 'user' },
        target: { type: 'parked-key', id: userId },
        payload: { details: { owner: group, topic, offset: items[0].offset, reason: 'its time is none' } },
      },
    ]);
  }, 90_000);

  test('of a group that nobody knows is not found; streams that wait are listed', async () => {
    expect((await ask('releaseParkedKey', `/parked-keys/nobody/${topic}/a/release`)).status).toBe(404);
    expect((await ask('listParkedKeys', '/parked-keys?group=nobody')).status).toBe(404);
    expect((await ask('listParkedStreams', '/parked-streams')).body).toEqual({ items: [] });
  });
});
