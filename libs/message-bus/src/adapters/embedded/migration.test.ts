import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import type { CloudEvent, Handled, MessageBus, RunningConsumer } from '../../port.ts';
import { openEmbeddedMessageBus } from '../embedded.ts';

const topic = 'bindery.testing.v1';
const event: CloudEvent = {
  specversion: '1.0',
  id: 'id',
  source: '/services/testing',
  type: 't',
  subject: 'a',
  time: '2030-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: 'x',
  data: {},
};

test('keys that were parked before their times were kept have those of their letters', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bindery-bus-'));
  const path = join(folder, 'bus.db');
  let handled = 0;
  const consume = (bus: MessageBus, answer: Handled): Promise<RunningConsumer> =>
    bus.consume({
      ...{ group: 'g', topics: [topic] },
      handle: async () => {
        if (answer.kind === 'done') handled += 1;
        return answer;
      },
    });

  const before = openEmbeddedMessageBus({ path, now: () => Date.parse('2026-03-01T12:00:00.000Z') });
  await before.ensureTopics([topic]);
  await before.publish(topic, [
    { key: 'a', event },
    { key: 'a', event },
  ]);
  const parking = await consume(before, { kind: 'park', reason: 'no' });
  while ((await parking.parked())[0]?.messages !== 2) await new Promise(setImmediate);
  await before.close();
  const file = new DatabaseSync(path);
  file.exec(
    'ALTER TABLE parked_keys DROP COLUMN since; ALTER TABLE parked_keys DROP COLUMN attempts; PRAGMA user_version = 2',
  );
  file.close();

  const after = openEmbeddedMessageBus({ path });
  const releasing = await consume(after, { kind: 'done' });
  expect(await releasing.parked()).toEqual([
    {
      ...{ topic, key: 'a', reason: 'no', attempts: 0, messages: 2, releasing: false },
      since: '2026-03-01T12:00:00.000Z',
    },
  ]);
  await releasing.release(topic, 'a');
  expect([handled, await releasing.parked()]).toEqual([2, []]);
  await after.close();
  await rm(folder, { recursive: true });
});
