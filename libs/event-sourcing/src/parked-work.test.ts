import { type CloudEvent, serviceTopic } from '@bindery/message-bus';
import type { ParkedKeyId } from '@bindery/service-kit';
import { openTestPorts, type TestPorts, until } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createMembership, type Membership } from './consumers/membership.ts';
import { createParkedWork } from './parked-work.ts';

const topic = serviceTopic('identity');
const eventOf = (type: string, n: number): CloudEvent => ({
  specversion: '1.0',
  id: `${type}-${n}`,
  source: '/services/identity',
  type,
  subject: 's',
  time: '2026-03-01T12:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: 'urn:x',
  data: { n },
});

describe('what waits in the consumer groups of a service', () => {
  let ports: TestPorts;
  let memberships: Membership[];
  let poison: boolean;

  beforeEach(async () => {
    ports = await openTestPorts();
    poison = true;
    memberships = ['b-group', 'a-group'].map((group) =>
      createMembership({
        bus: ports.bus,
        logger: ports.telemetry.logger,
        options: {
          ...{ group, topics: [topic], backoffMs: 1 },
          handle: async () => (poison ? { kind: 'park', reason: 'not yet' } : { kind: 'done' }),
        },
      }),
    );
  });
  afterEach(async () => {
    for (const membership of memberships) await membership.stop();
    await ports.remove();
  });

  const work = () =>
    createParkedWork({
      memberships,
      streams: { list: async () => [], retry: async () => null },
      validatePublic: ({ type }) => {
        if (type !== 'known') throw new TypeError('not of the catalogue');
      },
    });
  const begin = async (keys: readonly string[]): Promise<void> => {
    for (const membership of memberships) membership.start();
    await ports.bus.ensureTopics([topic]);
    for (const key of keys)
      await ports.bus.publish(
        topic,
        ['unknown', 'known'].map((type, n) => ({ key, event: eventOf(type, n) })),
      );
    await until('all wait', async () => {
      try {
        const { keys: waiting } = await work().keys({ limit: 1000 });
        return waiting.reduce((sum, { letters }) => sum + letters, 0) === memberships.length * keys.length * 2;
      } catch {
        return false; // not joined yet
      }
    });
  };

  test('is listed by group, topic and key, and filtered by each', async () => {
    await begin(['k1', 'k2', 'k3']);
    const all = await work().keys({ limit: 1000 });
    expect(all.groups).toEqual(['a-group', 'b-group']);
    const name = ({ group, key }: ParkedKeyId): string => `${group} ${key}`;
    const expected = ['a-group', 'b-group'].flatMap((group) => ['k1', 'k2', 'k3'].map((key) => `${group} ${key}`));
    expect(all.keys.map(name)).toEqual(expected);
    const paged: string[] = [];
    for (let after: ParkedKeyId | undefined; ; ) {
      const { keys } = await work().keys({ limit: 2, ...(after === undefined ? {} : { after }) });
      paged.push(...keys.map(name));
      after = keys.at(-1);
      if (keys.length < 2) break;
    }
    expect(paged).toEqual(expected);
    expect((await work().keys({ group: 'b-group', limit: 2 })).keys.map(name)).toEqual(['b-group k1', 'b-group k2']);
    expect((await work().keys({ topic: 'other', limit: 9 })).keys).toEqual([]);
    expect((await work().keys({ group: 'a-group', topic, key: 'k2', limit: 1 })).keys.map(name)).toEqual([
      'a-group k2',
    ]);
    expect((await work().keys({ group: 'nobody', topic, key: 'k2', limit: 1 })).keys).toEqual([]);
  });

  test('shows events of the catalogue alone, and is released', async () => {
    await begin(['k1']);
    const id = { group: 'a-group', topic, key: 'k1' };
    const { letters } = await work().letters({ ...id, limit: 10 });
    expect(letters.map(({ event }) => Object(event).id)).toEqual([undefined, 'known-1']);
    expect(letters.every(({ bytes, offset }) => bytes > 0 && /^\d+$/.test(offset))).toBe(true);
    await expect(work().letters({ ...id, limit: 10, after: 'x' })).rejects.toMatchObject({ code: 'cursor.invalid' });
    expect(await work().release({ ...id, waitMs: 5000 })).toMatchObject({ attempts: 2, letters: 2 });
    poison = false;
    expect(await work().release({ ...id, waitMs: 5000 })).toBeNull();
    expect(await work().release({ ...id, waitMs: 5000 })).toBeNull();
    expect(await work().release({ ...id, group: 'nobody', waitMs: 5000 })).toBeNull();
    expect(await work().letters({ ...id, limit: 10 })).toEqual({ letters: [] });
    expect((await work().keys({ limit: 9 })).keys.map(({ group }) => group)).toEqual(['b-group']);
  });

  test('its oldest message is given up, and those behind it go on', async () => {
    await begin(['k1']);
    const id = { group: 'a-group', topic, key: 'k1' };
    const { letters } = await work().letters({ ...id, limit: 10 });
    const [first = '', second = ''] = letters.map(({ offset }) => offset);
    await expect(work().discard({ ...id, offset: second, waitMs: 5000 })).rejects.toMatchObject({ kind: 'conflict' });
    await expect(work().discard({ ...id, key: 'k9', offset: first, waitMs: 1 })).rejects.toMatchObject({
      kind: 'not-found',
    });
    expect(await work().discard({ ...id, offset: first, waitMs: 5000 })).toMatchObject({ attempts: 1, letters: 1 });
    await expect(work().discard({ ...id, offset: first, waitMs: 5000 })).rejects.toMatchObject({
      ...{ kind: 'conflict', code: 'dead_letter.not_first' },
    });
    expect((await work().letters({ ...id, limit: 10 })).letters.map(({ event }) => Object(event).id)).toEqual([
      'known-1',
    ]);
    expect(await work().discard({ ...id, offset: second, waitMs: 5000 })).toBeNull();
  });

  test('a key is not forgotten while it has letters, nor one that does not wait', async () => {
    await begin(['k1']);
    const id = { group: 'a-group', topic, key: 'k1' };
    const refused = { kind: 'conflict', code: 'parked_key.has_letters' };
    await expect(work().forget({ ...id, waitMs: 5000 })).rejects.toMatchObject(refused);
    await expect(work().forget({ ...id, key: 'k9', waitMs: 1 })).rejects.toMatchObject({ kind: 'not-found' });
    expect((await work().keys({ ...id, limit: 1 })).keys).toMatchObject([{ letters: 2, releasing: false }]);
  });

  test('cannot be told before the group is joined', async () => {
    await expect(work().keys({ limit: 1 })).rejects.toMatchObject({ code: 'consumer_group.not_joined' });
  });
});
