import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { ChildScript, crashLoop } from '@bindery/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEAD_LETTER_HEADERS } from '../dead-letters.ts';
import { type BusMessage, type CloudEvent, deadLetterTopic, type MessageBus } from '../port.ts';
import { openEmbeddedMessageBus } from './embedded.ts';

const script = new URL('./embedded.crash-child.ts', import.meta.url);
const topic = 'bindery.crash.v1';

const nameOf = ({ key, event }: BusMessage): string => `${key} ${(event as CloudEvent<{ readonly n: number }>).data.n}`;
const read = async (bus: MessageBus, name: string): Promise<BusMessage[]> => {
  const messages: BusMessage[] = [];
  const { signal } = new AbortController();
  for await (const message of bus.tail([name], { from: 'beginning', follow: false, signal })) messages.push(message);
  return messages;
};
/** The part of the lines that begin with a word, in order. */
const linesOf = (lines: readonly string[], word: string): string[] =>
  lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('not within 10 s');
    await delay(5);
  }
};

/** A process that is frozen inside a transaction keeps the lock of the file, and everybody waits: not what is tested here. */
const freezeOutsideTransaction = async (child: ChildScript, path: string): Promise<void> => {
  const probe = new DatabaseSync(path, { timeout: 0 });
  for (let free = false; !free; ) {
    await child.pause();
    try {
      probe.exec('BEGIN IMMEDIATE; ROLLBACK');
      free = true;
    } catch {
      child.resume();
    }
  }
  probe.close();
};

describe('processes that share a message log', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bindery-crash-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('kill -9 at any instant: no acknowledged message is lost, order holds, offsets are never ahead of effects', async () => {
    const path = join(folder, 'killed.db');
    const handled: string[] = [];
    await crashLoop({
      script,
      args: ['work', path, topic],
      rounds: 10,
      leastLines: 20,
      withinMs: 120,
      afterCrash: async (_round, lines) => {
        handled.push(...linesOf(lines, 'handled'));
        const bus = openEmbeddedMessageBus({ path });
        const log = (await read(bus, topic)).map(nameOf);
        await bus.close();
        const published = new Set(log);
        expect(published.size).toBe(log.length);
        expect(linesOf(lines, 'published').filter((name) => !published.has(name))).toEqual([]);
        expect(linesOf(lines, 'problem')).toEqual([]);
      },
    });
    const bus = openEmbeddedMessageBus({ path });
    const rest: string[] = [];
    const consumer = await bus.consume({
      group: 'g',
      topics: [topic],
      handle: async (message) => {
        rest.push(nameOf(message));
        return { kind: 'done' };
      },
    });
    await until(async () => (await consumer.lag()).messages === 0);
    const letters = await read(bus, deadLetterTopic('g'));
    const log = (await read(bus, topic)).map(nameOf);
    await bus.close();

    const effects = new Set([...handled, ...rest, ...letters.map(nameOf)]);
    expect(log.filter((name) => !effects.has(name))).toEqual([]);
    const sources = letters.map(
      ({ headers }) => `${headers[DEAD_LETTER_HEADERS.partition]}/${headers[DEAD_LETTER_HEADERS.offset]}`,
    );
    expect(new Set(sources).size).toBe(letters.length); // dead letter and offset are one write
    const next = new Map<string, number>();
    for (const name of log) {
      const [key = '', n] = name.split(' ');
      expect(Number(n)).toBe(next.get(key) ?? 0);
      next.set(key, Number(n) + 1);
    }
    const firstSeen = new Map<string, number[]>();
    for (const name of new Set([...handled, ...rest])) {
      const [key = '', n] = name.split(' ');
      firstSeen.set(key, [...(firstSeen.get(key) ?? []), Number(n)]);
    }
    for (const numbers of firstSeen.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(handled.length).toBeGreaterThan(50);
  });

  test('a member that was frozen beyond its lease cannot move the offset of the one that took over', async () => {
    const path = join(folder, 'frozen.db');
    const bus = openEmbeddedMessageBus({ path, leaseMs: 300, pollMs: 5 });
    await bus.ensureTopics([topic]);
    const frozen = new ChildScript(script, ['slow', path, topic]);
    try {
      const key = 'a';
      const event = {
        specversion: '1.0',
        source: '/t',
        type: 't',
        subject: key,
        time: '',
        datacontenttype: 'application/json',
        dataschema: 'x',
      } as const;
      await bus.publish(
        topic,
        Array.from({ length: 12 }, (_, n) => ({ key, event: { ...event, id: `${n}`, data: { n } } })),
      );
      await frozen.untilLines(3); // started 0, handled 0, started 1
      await freezeOutsideTransaction(frozen, path);
      const taken: string[] = [];
      const consumer = await bus.consume({
        group: 'g',
        topics: [topic],
        handle: async (message) => {
          taken.push(nameOf(message));
          return { kind: 'done' };
        },
      });
      await until(async () => (await consumer.lag()).messages === 0);
      frozen.resume();
      await until(async () => frozen.lines.includes('problem message_bus.lease_lost'));
      expect((await consumer.lag()).messages).toBe(0);
      expect(taken.at(-1)).toBe('a 11');
      expect([...new Set([...linesOf(frozen.lines, 'handled'), ...taken])]).toHaveLength(12);
    } finally {
      frozen.resume();
      await frozen.kill();
      await bus.close();
    }
  });
});
