import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { CloudEvent, Handled } from '../port.ts';
import { openEmbeddedMessageBus } from './embedded.ts';

/**
 * Test process. `work <file> <topic>`: publishes and consumes until it is killed; prints `published <key> <n>` for each
 * acknowledged message and `handled <key> <n>` as the effect of each handled one. `slow <file> <topic>`: consumes only,
 * 100 ms per message, and prints `started`, `handled` and `problem <code>`.
 */
const [mode = '', path = '', topic = ''] = process.argv.slice(2);
const say = (line: string): void => {
  writeSync(1, `${line}\n`); // synchronous: what was printed has happened, whatever comes next
};
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
const bus = openEmbeddedMessageBus({
  path,
  leaseMs: 300,
  pollMs: 5,
  onProblem: (problem) => say(`problem ${'error' in problem ? codeOf(problem.error) : problem.kind}`),
});

const eventOf = (subject: string, n: number): CloudEvent => ({
  specversion: '1.0',
  id: randomUUID(),
  source: '/services/testing',
  type: 'bindery.testing.happened.v1',
  subject,
  time: '2030-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: 'https://example.org/schema',
  data: { n },
});

const publish = async (key: string): Promise<void> => {
  for (let n = 0; ; n += 1) {
    await bus.publish(topic, [{ key, event: eventOf(key, n) }]);
    say(`published ${key} ${n}`);
  }
};

const handle = async (key: string, n: number): Promise<Handled> => {
  if (mode === 'slow') {
    say(`started ${key} ${n}`);
    await delay(100);
  } else {
    await nextTurn();
    if (key.endsWith('-2') && n === 3) return { kind: 'park', reason: 'poison' };
  }
  say(`handled ${key} ${n}`);
  return { kind: 'done' };
};

await bus.ensureTopics([topic]);
await bus.consume({
  group: 'g',
  topics: [topic],
  handle: ({ key, event }) => handle(key, (event as CloudEvent<{ readonly n: number }>).data.n),
});
if (mode === 'work') await Promise.all([0, 1, 2, 3].map((index) => publish(`${process.pid}-${index}`)));
