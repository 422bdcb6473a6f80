import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Handled } from '@bindery/message-bus';
import { expect, test } from '@jest/globals';
import {
  collect,
  gate,
  type MessageBusHarness,
  messageOf,
  numbered,
  numberOf,
  Recorder,
  upTo,
  withBus,
} from './harness.ts';

const keys = upTo(12).map((index) => `key${index}`);

/** Order, repeats, restarts, offsets. */
export const delivering = (harness: MessageBusHarness): void => {
  test('a message arrives as it was published', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const { key, event } = messageOf('subject1', { title: 'Guide', parts: [1, null, { deep: true }] });
      const full = { ...event, organizationid: 'org1', correlationid: 'c1', traceparent: '00-aa-bb-01' };
      await bus.publish(topic, [{ key, event: full }]);
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] });
      await until('one message', () => recorder.messages.length === 1);
      expect(recorder.messages[0]).toMatchObject({ topic, key, event: full });
      expect(recorder.messages[0]?.event).toEqual(full);
      expect(recorder.messages[0]?.headers).toMatchObject({
        ce_id: event.id,
        ce_type: event.type,
        traceparent: '00-aa-bb-01',
      });
    }));

  test('the order of each key holds, for many keys and publishers', () =>
    withBus(harness, async ({ bus, topic, group, until, open }) => {
      const other = await open();
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async () => {
        if (Math.random() < 0.3) await nextTurn();
        return { kind: 'done' };
      });
      await Promise.all(
        keys.map(async (key, index) => {
          const client = index % 2 === 0 ? bus : other;
          for (let n = 0; n < 50; n += 2) await client.publish(topic, numbered(key, 2, n));
        }),
      );
      await until('all messages', () => recorder.messages.length >= keys.length * 50);
      for (const key of keys) expect(recorder.numbers(key)).toEqual(upTo(50));
    }));

  test('a key stays in its partition, offsets grow within it, one message at a time', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      await bus.publish(
        topic,
        keys.flatMap((key) => numbered(key, 20)),
      );
      const busy = new Set<number>();
      let overlaps = 0;
      let together = 0;
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async ({ partition }) => {
        if (busy.has(partition)) overlaps += 1;
        busy.add(partition);
        together = Math.max(together, busy.size);
        await nextTurn();
        busy.delete(partition);
        return { kind: 'done' };
      });
      await until('all messages', () => recorder.messages.length >= keys.length * 20);
      expect(overlaps).toBe(0);
      expect(together).toBeGreaterThan(1);
      const partitions = new Map<string, number>();
      const offsets = new Map<number, bigint>();
      for (const { key, partition, offset } of recorder.messages) {
        expect(partitions.get(key) ?? partition).toBe(partition);
        expect(BigInt(offset)).toBeGreaterThan(offsets.get(partition) ?? -1n);
        partitions.set(key, partition);
        offsets.set(partition, BigInt(offset));
      }
    }));

  test('a message that failed comes again before the next one of its partition', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      await bus.publish(topic, numbered('a', 6));
      const attempts: number[] = [];
      const recorder = await Recorder.start(
        bus,
        { group: group('g'), topics: [topic] },
        async (message): Promise<Handled> => {
          const n = numberOf(message);
          attempts.push(n);
          const earlier = attempts.filter((other) => other === n).length - 1;
          if (n === 1 && earlier === 0) throw new Error('broken');
          if (n === 3 && earlier < 3) return { kind: 'retry', reason: 'not yet' };
          return { kind: 'done' };
        },
      );
      await until('all messages', () => recorder.messages.length >= 6);
      expect(attempts).toEqual([0, 1, 1, 2, 3, 3, 3, 3, 4, 5]);
      expect(recorder.numbers('a')).toEqual(upTo(6));
      expect(await recorder.consumer.parked()).toEqual([]);
    }));

  test('what is published twice arrives twice, with the same id', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const messages = numbered('a', 3);
      await bus.publish(topic, messages);
      await bus.publish(topic, messages);
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] });
      await until('all messages', () => recorder.messages.length >= 6);
      expect(recorder.numbers('a')).toEqual([0, 1, 2, 0, 1, 2]);
      expect(new Set(recorder.messages.map(({ event }) => event.id)).size).toBe(3);
      expect(new Set(recorder.messages.map(({ offset }) => offset)).size).toBe(6);
    }));

  test('a group goes on where it stopped, in this client and the next', () =>
    withBus(harness, async ({ bus, topic, group, until, place, open }) => {
      const options = { group: group('g'), topics: [topic] };
      await bus.publish(topic, numbered('a', 10));
      const first = await Recorder.start(bus, options);
      await until('ten messages', () => first.messages.length >= 10);
      await first.stop();
      await bus.publish(topic, numbered('a', 10, 10));
      const second = await Recorder.start(bus, options);
      await until('ten more', () => second.messages.length >= 10);
      await bus.close();
      await place.restart?.();
      const next = await open();
      await next.publish(topic, numbered('a', 10, 20));
      const third = await Recorder.start(next, options);
      await until('the last ten', () => third.messages.length >= 10);
      expect([first, second, third].map((recorder) => recorder.numbers('a'))).toEqual([
        upTo(10),
        upTo(10).map((n) => n + 10),
        upTo(10).map((n) => n + 20),
      ]);
    }));

  test('restarted in the middle again and again it misses nothing and keeps the order', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const total = 300;
      await bus.publish(
        topic,
        ['a', 'b', 'c'].flatMap((key) => numbered(key, total)),
      );
      const seen = new Map<string, number[]>();
      let lives = 0;
      let handled = 0;
      while (handled < 3 * total) {
        lives += 1;
        const enough = handled + 60;
        const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] });
        await until('some messages', () => handled + recorder.messages.length >= Math.min(enough, 3 * total));
        await recorder.stop();
        handled += recorder.messages.length;
        for (const message of recorder.messages)
          seen.set(message.key, [...(seen.get(message.key) ?? []), numberOf(message)]);
      }
      expect(lives).toBeGreaterThan(2);
      for (const key of ['a', 'b', 'c']) expect(seen.get(key)).toEqual(upTo(total)); // stops were clean: nothing twice
    }));

  test('stopping waits for the message in hand, which is not delivered again', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      await bus.publish(topic, numbered('a', 5));
      const { opened, open } = gate();
      let started = 0;
      const first = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async () => {
        started += 1;
        await opened;
        return { kind: 'done' };
      });
      await until('a message in hand', () => started === 1);
      let stopped = false;
      const stopping = first.stop().then(() => {
        stopped = true;
      });
      await nextTurn();
      expect(stopped).toBe(false);
      open();
      await stopping;
      expect(first.numbers('a')).toEqual([0]);
      await first.stop();
      const second = await Recorder.start(bus, { group: group('g'), topics: [topic] });
      await until('the rest', () => second.messages.length >= 4);
      expect(second.numbers('a')).toEqual([1, 2, 3, 4]);
    }));

  test('stopping does not wait for a back-off, and the message comes again', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      await bus.publish(topic, numbered('a', 2));
      let attempts = 0;
      const options = { group: group('g'), topics: [topic], backoffMs: 30_000 };
      const first = await Recorder.start(bus, options, async () => {
        attempts += 1;
        return { kind: 'retry', reason: 'down' };
      });
      await until('an attempt', () => attempts === 1);
      await first.stop();
      const second = await Recorder.start(bus, options);
      await until('both messages', () => second.messages.length >= 2);
      expect(second.numbers('a')).toEqual([0, 1]);
    }));

  test('two groups do not know of each other', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      await bus.publish(topic, numbered('a', 10));
      const { opened, open } = gate();
      const slow = await Recorder.start(bus, { group: group('slow'), topics: [topic] }, () =>
        opened.then(() => ({ kind: 'done' })),
      );
      const quick = await Recorder.start(bus, { group: group('quick'), topics: [topic] });
      await until('all for the quick one', () => quick.messages.length >= 10);
      expect(slow.messages).toEqual([]);
      open();
      await until('all for the slow one', () => slow.messages.length >= 10);
      expect(slow.numbers('a')).toEqual(quick.numbers('a'));
    }));

  test('a new group starts at the beginning or at the end, an old one where it was', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      await bus.publish(topic, numbered('a', 5));
      const atEnd = { group: group('end'), topics: [topic], from: 'end' } as const;
      const fromStart = await Recorder.start(bus, { group: group('start'), topics: [topic] });
      const late = await Recorder.start(bus, atEnd);
      await until('all old ones', () => fromStart.messages.length >= 5);
      await bus.publish(topic, numbered('a', 1, 5));
      await until('the new one', () => late.messages.length >= 1 && fromStart.messages.length >= 6);
      await late.stop();
      await bus.publish(topic, numbered('a', 2, 6));
      const again = await Recorder.start(bus, atEnd);
      await until('the newest', () => again.messages.length >= 2);
      expect([fromStart.numbers('a').slice(0, 6), late.numbers('a'), again.numbers('a')]).toEqual([
        upTo(6),
        [5],
        [6, 7],
      ]);
    }));

  test('a group reads several topics', () =>
    withBus(harness, async ({ bus, topic, otherTopic, group, until }) => {
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic, otherTopic] });
      await Promise.all([bus.publish(topic, numbered('a', 20)), bus.publish(otherTopic, numbered('a', 20))]);
      await until('all messages', () => recorder.messages.length >= 40);
      for (const name of [topic, otherTopic]) {
        expect(recorder.messages.filter((message) => message.topic === name).map(numberOf)).toEqual(upTo(20));
      }
    }));

  test('a consumer sees what another client published', () =>
    withBus(harness, async ({ bus, topic, group, until, open }) => {
      const other = await open();
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] });
      for (let n = 0; n < 10; n += 1) {
        await other.publish(topic, numbered('a', 1, n));
        await until(`message ${n}`, () => recorder.messages.length === n + 1);
      }
      expect(
        await collect(bus.tail([topic], { from: 'beginning', follow: false, signal: new AbortController().signal })),
      ).toHaveLength(10);
    }));
};
