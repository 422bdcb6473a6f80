import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { publicEvents } from '@bindery/contracts';
import { type CloudEvent, toBinary } from '@bindery/message-bus';
import { describe, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { connectionOf } from './src/connection.ts';
import { readMerged, Unreadable } from './src/event.ts';
import { openInbox } from './src/inbox.ts';
import { continueTrace } from './src/trace.ts';

const type = 'bindery.content.change-request.merged.v1';
const sample: Readonly<Record<string, unknown>> = Object(publicEvents.get(type)?.samples?.[0]);
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** The n-th event, as Bindery publishes it. */
const merged = (number: number, spaceId: string): CloudEvent => ({
  specversion: '1.0',
  id: `event-${number}`,
  source: '/services/content',
  type,
  subject: spaceId,
  time: '2026-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: `/asyncapi.json#/components/schemas/${type}`,
  data: { ...sample, spaceId },
  traceparent,
});
const received = (event: CloudEvent) => {
  const { value, headers } = toBinary(event);
  return {
    value,
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
  };
};
const folderOf = (): string => mkdtempSync(join(tmpdir(), 'bindery-example-'));
const countsIn = (path: string): Readonly<Record<string, number>> => {
  const db = new DatabaseSync(path, { readOnly: true });
  const rows = db.prepare('SELECT space_id, count FROM merges').all();
  db.close();
  return Object.fromEntries(rows.map(({ space_id, count }) => [String(space_id), Number(count)]));
};

describe('the example consumer', () => {
  test('reads events as the catalogue has them, and only those it wants', () => {
    expect(readMerged(received(merged(1, 's1')))).toEqual({
      id: 'event-1',
      spaceId: 's1',
      changeRequestId: sample.changeRequestId,
      mergedAt: sample.mergedAt,
      traceparent,
    });
    expect(readMerged(received({ ...merged(1, 's1'), type: 'bindery.content.space.created.v1' }))).toBeUndefined();
    expect(() => readMerged({ ...received(merged(1, 's1')), value: Buffer.from('{') })).toThrow(Unreadable);
  });

  test('applies an event once, also after a restart', () => {
    const folder = folderOf();
    const path = join(folder, 'merges.db');
    const event = readMerged(received(merged(1, 's1')));
    if (event === undefined) throw new Error('no event');
    for (const expected of [true, false]) {
      const inbox = openInbox(path);
      expect(inbox.apply(event)).toBe(expected);
      expect(inbox.apply(event)).toBe(false);
      inbox.close();
    }
    expect(countsIn(path)).toEqual({ s1: 1 });
    rmSync(folder, { recursive: true });
  });

  test('reads how to reach the brokers, and names the setting that is wrong', () => {
    const env = { KAFKA_BROKERS: 'a:1, b:2' };
    expect(connectionOf(env)).toEqual({ brokers: ['a:1', 'b:2'], ssl: false });
    const sasl = { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' };
    expect(connectionOf({ ...env, KAFKA_SSL: 'true', ...sasl })).toEqual({
      brokers: ['a:1', 'b:2'],
      ssl: {},
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'p' },
    });
    for (const [name, wrong] of [
      ['KAFKA_BROKERS', { KAFKA_BROKERS: '' }],
      ['KAFKA_SASL_MECHANISM', { ...sasl, KAFKA_SASL_MECHANISM: 'guess' }],
      ['KAFKA_SASL_PASSWORD', { ...sasl, KAFKA_SASL_PASSWORD: '' }],
      ['KAFKA_SSL_CA_FILE', { KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: '/absent.pem' }],
    ] as const)
      expect(() => connectionOf({ ...env, ...wrong })).toThrow(name);
  });

  test('continues the trace of a message', () => {
    expect(continueTrace(traceparent).traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-(?!00f067aa0ba902b7)/);
    expect(continueTrace('nonsense').traceId).toMatch(/^[0-9a-f]{32}$/);
  });
});

const brokers = process.env.KAFKA_BROKERS ?? '';
const withBroker = brokers === '' ? describe.skip : describe;

withBroker(brokers === '' ? 'SKIPPED: Kafka (KAFKA_BROKERS is not set)' : 'on Kafka', () => {
  test('kill -9, duplicates and rebalances: every merge is counted exactly once', async () => {
    const folder = folderOf();
    const database = join(folder, 'merges.db');
    const topic = `example-${Date.now()}-${process.pid}`;
    const main = fileURLToPath(new URL('src/main.ts', import.meta.url));
    const children = new Set<ChildProcess>();
    const lines: string[] = [];
    const start = (): ChildProcess => {
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main], {
        env: { ...process.env, KAFKA_BROKERS: brokers, TOPIC: topic, GROUP: topic, DATABASE: database },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      children.add(child);
      child.once('exit', () => children.delete(child));
      child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(...text.split('\n').filter(Boolean)));
      return child;
    };
    const handled = (): number => lines.filter((line) => /"(?:counted|known already)"/.test(line)).length;
    const until = async (done: () => boolean, withinMs = 60_000): Promise<void> => {
      const deadline = performance.now() + withinMs;
      while (!done()) {
        if (performance.now() > deadline) throw new Error(`not in time:\n${lines.slice(-5).join('\n')}`);
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    };

    const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
    const admin = kafka.admin();
    const producer = kafka.producer({ idempotent: true });
    await Promise.all([admin.connect(), producer.connect()]);
    try {
      await admin.createTopics({ topics: [{ topic, numPartitions: 3, replicationFactor: 1 }], waitForLeaders: true });
      const spaces = ['s1', 's2', 's3', 's4', 's5'];
      const spaceOf = (number: number): string => spaces[number % spaces.length] ?? 's1';
      let next = 0;
      const send = async (count: number): Promise<void> => {
        const fresh = Array.from({ length: count }, () => next++);
        // Every third one comes again, at the end: as after a publisher that lost the answer.
        const all = [...fresh, ...fresh.filter((number) => number % 3 === 0)];
        const messages = all.map((number) => {
          const { key, value, headers } = toBinary(merged(number, spaceOf(number)));
          return { key, value, headers };
        });
        await producer.send({ topic, acks: -1, messages });
      };

      for (let round = 0; round < 4; round += 1) {
        await send(150);
        const before = handled();
        const child = start();
        await until(() => handled() > before + 20 * (round + 1));
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      // Two at once share the partitions; one leaves in between, with a signal this time.
      const [staying, leaving] = [start(), start()];
      await until(() => lines.filter((line) => line.includes('"started"')).length >= 6);
      await send(150);
      await until(() => handled() > 600);
      leaving.kill('SIGTERM');
      const [code] = await once(leaving, 'exit');
      expect(code).toBe(0);
      await send(150);
      await producer.send({ topic, messages: [{ key: 'x', value: '{', headers: { ce_type: type, ce_id: 'broken' } }] });
      const total = (): number => Object.values(countsIn(database)).reduce((sum, count) => sum + count, 0);
      await until(() => total() >= next && lines.some((line) => line.includes('"put aside"')));
      staying.kill('SIGTERM');
      await once(staying, 'exit');

      const expected = Object.fromEntries(spaces.map((space) => [space, next / spaces.length]));
      expect(countsIn(database)).toEqual(expected);
      expect(lines.filter((line) => line.includes('"known already"')).length).toBeGreaterThanOrEqual(next / 3);
      expect(lines.find((line) => line.includes('"counted"'))).toContain('4bf92f3577b34da6a3ce929d0e0e4736');
    } finally {
      for (const child of children) child.kill('SIGKILL');
      await admin.deleteTopics({ topics: [topic] }).catch(() => undefined);
      await admin.deleteGroups([topic]).catch(() => undefined);
      await Promise.all([admin.disconnect(), producer.disconnect()]);
      rmSync(folder, { recursive: true, force: true });
    }
  }, 180_000);
});
