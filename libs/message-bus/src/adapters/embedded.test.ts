import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type CloudEvent, MessageBusUnavailable } from '../port.ts';
import {
  type BusProblem,
  type EmbeddedMessageBus,
  type EmbeddedMessageBusOptions,
  openEmbeddedMessageBus,
} from './embedded.ts';

const topic = 'bindery.testing.v1';
const DAY = 86_400_000;

const message = (key: string, data: unknown = {}): { readonly key: string; readonly event: CloudEvent } => ({
  key,
  event: {
    specversion: '1.0',
    id: 'id',
    source: '/services/testing',
    type: 't',
    subject: key,
    time: '2030-01-01T00:00:00.000Z',
    datacontenttype: 'application/json',
    dataschema: 'x',
    data,
  },
});

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const end = performance.now() + 8000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('not within 8 s');
    await delay(2);
  }
};

describe('embedded message bus', () => {
  let folder = '';
  let opened: EmbeddedMessageBus[] = [];
  let problems: BusProblem[] = [];
  const open = (options: Partial<EmbeddedMessageBusOptions> = {}): EmbeddedMessageBus => {
    const bus = openEmbeddedMessageBus({
      path: join(folder, 'bus.db'),
      onProblem: (problem) => problems.push(problem),
      ...options,
    });
    opened.push(bus);
    return bus;
  };
  beforeEach(async () => {
    problems = [];
    folder = await mkdtemp(join(tmpdir(), 'bindery-bus-'));
  });
  afterEach(async () => {
    await Promise.all(opened.map((bus) => bus.close()));
    opened = [];
    await rm(folder, { recursive: true });
  });
  const done = async (): Promise<{ readonly kind: 'done' }> => ({ kind: 'done' });

  test('publishes of one turn share a commit', async () => {
    const commits: number[] = [];
    const bus = open({ onCommit: ({ writes }) => commits.push(writes) });
    await bus.ensureTopics([topic]);
    await Promise.all(Array.from({ length: 50 }, (_, index) => bus.publish(topic, [message(`k${index}`)])));
    expect(commits).toEqual([1, 50]);
  });

  test('old messages go once they are handled; unhandled ones are kept and reported', async () => {
    let now = 1000 * DAY;
    const bus = open({ now: () => now, partitions: 1, retention: { maxAgeDays: 7 } });
    await bus.ensureTopics([topic]);
    await bus.publish(
      topic,
      Array.from({ length: 700 }, (_, n) => message('a', { n })),
    );
    let stopAt = 600;
    const options = {
      group: 'g',
      topics: [topic],
      backoffMs: 30_000,
      handle: async ({ offset }: { readonly offset: string }) =>
        Number(offset) < stopAt ? ({ kind: 'done' } as const) : ({ kind: 'retry', reason: 'not yet' } as const),
    };
    const consumer = await bus.consume(options);
    await until(async () => (await consumer.lag()).messages === 100);
    now += 6 * DAY;
    await bus.publish(topic, [message('a', { n: 700 })]);
    await bus.prune();
    expect(await bus.last(topic, 1000)).toHaveLength(701);
    now += 2 * DAY;
    await bus.prune();
    expect(await bus.last(topic, 1000)).toHaveLength(201); // one small transaction each time
    await bus.prune();
    expect(await bus.last(topic, 1000)).toHaveLength(101);
    expect(problems).toEqual([{ kind: 'retention-held-back', topic, partition: 0, messages: 100 }]);
    await consumer.stop();
    stopAt = Number.POSITIVE_INFINITY;
    const again = await bus.consume(options);
    await until(async () => (await again.lag()).messages === 0);
    await bus.prune();
    expect((await bus.last(topic, 1000)).map(({ offset }) => offset)).toEqual(['700']);
    await bus.publish(topic, [message('a')]);
    expect((await bus.last(topic, 1)).map(({ offset }) => offset)).toEqual(['701']);
  });

  test('the size limit drops the oldest messages and says what a group loses', async () => {
    const bus = open({ partitions: 1, retention: { maxBytes: 50_000 } });
    await bus.ensureTopics([topic]);
    const consumer = await bus.consume({
      group: 'g',
      topics: [topic],
      backoffMs: 30_000,
      handle: async () => ({ kind: 'retry', reason: 'x' }),
    });
    for (let n = 0; n < 100; n += 1) await bus.publish(topic, [message('a', { text: 'x'.repeat(1000) })]);
    await bus.prune();
    const kept = await bus.last(topic, 1000);
    expect(kept.length).toBeGreaterThan(20);
    expect(kept.length).toBeLessThan(50);
    expect(kept.at(-1)?.offset).toBe('99');
    expect(problems).toEqual([{ kind: 'retention-lost', topic, partition: 0, messages: 100 - kept.length }]);
    expect((await consumer.lag()).messages).toBe(kept.length);
  });

  test('parked messages are kept as long as they are parked', async () => {
    let now = 1000 * DAY;
    const bus = open({ now: () => now, partitions: 1 });
    await bus.ensureTopics([topic]);
    let poison = true;
    const handled: string[] = [];
    const consumer = await bus.consume({
      group: 'g',
      topics: [topic],
      handle: async ({ offset }) => {
        if (poison) return { kind: 'park', reason: 'poison' };
        handled.push(offset);
        return { kind: 'done' };
      },
    });
    await bus.publish(topic, [message('a'), message('a')]);
    await until(async () => (await consumer.parked())[0]?.messages === 2);
    now += 100 * DAY;
    await bus.prune();
    expect(await bus.last(topic, 10)).toEqual([]);
    poison = false;
    await consumer.release(topic, 'a');
    expect(handled).toEqual(['0', '1']);
    await bus.prune();
    expect(await bus.last('bindery.g.dead-letters.v1', 10)).toEqual([]);
  });

  test('a handler that does not end is told, then given up', async () => {
    const bus = open({ stopTimeoutMs: 20 });
    await bus.ensureTopics([topic]);
    await bus.publish(topic, [message('a'), message('b')]);
    let told = 0;
    let started = 0;
    const consumer = await bus.consume({
      group: 'g',
      topics: [topic],
      handle: ({ key }, signal) => {
        started += 1;
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            told += 1;
            if (key === 'a') resolve({ kind: 'retry', reason: 'stopped' });
          });
        });
      },
    });
    await until(() => started === 2);
    await consumer.stop();
    expect(told).toBe(2);
    const seen: string[] = [];
    await bus.consume({
      group: 'g',
      topics: [topic],
      handle: async ({ key }) => {
        seen.push(key);
        return { kind: 'done' };
      },
    });
    await until(() => seen.length === 2);
    expect(seen.sort()).toEqual(['a', 'b']);
  });

  test('back-offs double, with jitter, up to half a minute', async () => {
    const bus = open({ random: () => 0.5 });
    await bus.ensureTopics([topic]);
    await bus.publish(topic, [message('a')]);
    const times: number[] = [];
    const consumer = await bus.consume({
      group: 'g',
      topics: [topic],
      backoffMs: 20,
      maxAttempts: 4,
      handle: async () => {
        times.push(performance.now());
        throw new Error('broken');
      },
    });
    await until(async () => (await consumer.parked()).length === 1);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses).toHaveLength(3);
    for (const [index, least] of [20, 40, 80].entries()) expect(pauses[index]).toBeGreaterThanOrEqual(least - 2);
  });

  test('names of topics and keys are checked', async () => {
    const bus = open();
    for (const name of ['', 'with space', 'ü', 'x'.repeat(300)])
      await expect(bus.ensureTopics([name])).rejects.toBeInstanceOf(TypeError);
    await bus.ensureTopics([topic]);
    for (const key of ['a\0', '\ud800'])
      await expect(bus.publish(topic, [message(key)])).rejects.toBeInstanceOf(TypeError);
    await expect(bus.last(topic, -1)).rejects.toBeInstanceOf(RangeError);
  });

  test('a release ends with an error when its consumer stops, and goes on elsewhere', async () => {
    const bus = open();
    await bus.ensureTopics([topic]);
    let state: 'park' | 'hang' | 'done' = 'park';
    const handled: string[] = [];
    const options = {
      group: 'g',
      topics: [topic],
      backoffMs: 30_000,
      handle: async ({ key }: { readonly key: string }) => {
        if (state === 'park') return { kind: 'park', reason: 'poison' } as const;
        if (state === 'hang') return { kind: 'retry', reason: 'later' } as const;
        handled.push(key);
        return { kind: 'done' } as const;
      },
    };
    const consumer = await bus.consume(options);
    await bus.publish(topic, [message('a'), message('a')]);
    await until(async () => (await consumer.parked())[0]?.messages === 2);
    state = 'hang';
    const releasing = consumer.release(topic, 'a');
    const refused = expect(releasing).rejects.toBeInstanceOf(MessageBusUnavailable);
    await consumer.stop();
    await refused;
    state = 'done';
    const next = await bus.consume(options);
    await until(async () => (await next.parked()).length === 0);
    expect(handled).toEqual(['a', 'a']);
  });

  test('a file of another kind is refused', async () => {
    await writeFile(join(folder, 'bus.db'), 'text that is no database '.repeat(100));
    expect(() => open()).toThrow(expect.objectContaining({ code: 'sqlite.bad_file', reason: 'damaged' }));
  });

  test('twenty consumers that have nothing to do leave the file alone', async () => {
    let writes = 0;
    const bus = open({ onCommit: () => (writes += 1) });
    await bus.ensureTopics([topic]);
    for (let index = 0; index < 20; index += 1)
      await bus.consume({ group: `g${index}`, topics: [topic], handle: done });
    await until(async () => {
      const before = writes;
      await delay(50);
      return writes === before;
    });
    expect(writes).toBeLessThan(100);
  });
});
