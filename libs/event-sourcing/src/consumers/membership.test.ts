import { type CloudEvent, serviceTopic } from '@bindery/message-bus';
import { openTestPorts, until } from '@bindery/testing/event-sourcing';
import { expect, test } from '@jest/globals';
import { createMembership } from './membership.ts';

test('joins when the bus is back, consumes, and ends in order', async () => {
  const ports = await openTestPorts();
  let away = true;
  let tries = 0;
  const got: string[] = [];
  const bus = {
    ...ports.bus,
    publish: ports.bus.publish.bind(ports.bus),
    consume: ports.bus.consume.bind(ports.bus),
    async ensureTopics(topics: readonly string[]) {
      tries += 1;
      if (away) throw Object.assign(new Error('away'), { code: 'message_bus.unavailable' });
      return ports.bus.ensureTopics(topics);
    },
  };
  const topic = serviceTopic('identity');
  const membership = createMembership({
    bus,
    logger: ports.telemetry.logger,
    options: {
      group: 'g',
      topics: [topic],
      handle: async ({ event }) => {
        got.push(event.id);
        return { kind: 'done' };
      },
    },
  });
  membership.start();
  await until('it has tried', () => tries > 1);
  away = false;
  await until('it has joined', async () => {
    const event: CloudEvent = {
      specversion: '1.0',
      id: crypto.randomUUID(),
      source: '/services/identity',
      type: 't',
      subject: 's',
      time: new Date().toISOString(),
      datacontenttype: 'application/json',
      dataschema: 'urn:x',
      data: {},
    };
    await bus.publish(topic, [{ key: 's', event }]).catch(() => undefined); // there is no topic before it has joined
    return got.length > 0;
  });
  await membership.stop();
  expect(new Set(got).size).toBe(got.length);
  await ports.remove();
});
