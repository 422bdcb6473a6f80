import { InvalidCloudEvent, MessageBusUnavailable, UnknownTopic } from '@bindery/message-bus';
import { expect, test } from '@jest/globals';
import { HOSTILE_TEXTS } from '../event-store-conformance/payloads.ts';
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

const forever = (): AbortSignal => new AbortController().signal;

/** Lag, tail, last, payloads, errors. */
export const looking = (harness: MessageBusHarness): void => {
  test('lag counts what is not handled and tells the age of the oldest', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const { opened, open } = gate();
      const { consumer } = await Recorder.start(bus, { group: group('g'), topics: [topic] }, () =>
        opened.then(() => ({ kind: 'done' })),
      );
      expect(await consumer.lag()).toEqual({ messages: 0, oldestMs: 0 });
      await bus.publish(topic, [...numbered('a', 5), ...numbered('b', 5)]);
      await until('age', async () => (await consumer.lag()).oldestMs >= 20);
      const earlier = await consumer.lag();
      expect(earlier.messages).toBe(10);
      await until('a greater age', async () => (await consumer.lag()).oldestMs >= earlier.oldestMs + 20);
      open();
      await until('no lag', async () => (await consumer.lag()).messages === 0);
      expect(await consumer.lag()).toEqual({ messages: 0, oldestMs: 0 });
    }));

  test('tail reads what is there and ends', () =>
    withBus(harness, async ({ bus, topic, otherTopic }) => {
      await bus.publish(topic, numbered('a', 100));
      await bus.publish(otherTopic, numbered('a', 100));
      const read = (topics: readonly string[], from: 'beginning' | 'end' = 'beginning'): Promise<number[]> =>
        collect(bus.tail(topics, { from, follow: false, signal: forever() })).then((all) => all.map(numberOf));
      expect(await read([topic])).toEqual(upTo(100));
      expect((await read([topic, otherTopic])).sort((a, b) => a - b)).toEqual(upTo(200).map((n) => Math.floor(n / 2)));
      expect(await read([topic], 'end')).toEqual([]);
    }));

  test('tail follows from the beginning and from the end, without a group, until it is aborted', () =>
    withBus(harness, async ({ bus, topic, until, open }) => {
      const other = await open();
      await bus.publish(topic, numbered('a', 10));
      const abort = new AbortController();
      const follow = (from: 'beginning' | 'end'): { readonly seen: number[]; readonly ended: Promise<void> } => {
        const seen: number[] = [];
        const messages = bus.tail([topic], { from, follow: true, signal: abort.signal });
        const ended = (async () => {
          for await (const message of messages) seen.push(numberOf(message));
        })();
        return { seen, ended };
      };
      const [whole, fresh] = [follow('beginning'), follow('end')];
      await until('the old ones', () => whole.seen.length >= 10);
      for (let n = 10; n < 20; n += 1) await (n % 2 === 0 ? bus : other).publish(topic, numbered('a', 1, n));
      await until('the new ones', () => whole.seen.length >= 20 && fresh.seen.length >= 10);
      abort.abort();
      await Promise.all([whole.ended, fresh.ended]);
      expect(whole.seen).toEqual(upTo(20));
      expect(fresh.seen).toEqual(upTo(20).slice(10));
    }));

  test('the last messages, newest last', () =>
    withBus(harness, async ({ bus, topic }) => {
      expect(await bus.last(topic, 5)).toEqual([]);
      for (let n = 0; n < 10; n += 1) await bus.publish(topic, numbered('a', 1, n));
      expect((await bus.last(topic, 3)).map(numberOf)).toEqual([7, 8, 9]);
      expect((await bus.last(topic, 50)).map(numberOf)).toEqual(upTo(10));
      expect(await bus.last(topic, 0)).toEqual([]);
    }));

  test('a payload of 1 MB', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const data = { text: 'x'.repeat(harness.capabilities?.payloadBytes ?? 1_000_000), end: '😀' };
      await bus.publish(topic, [messageOf('a', data), messageOf('b', data), messageOf('a', { small: true })]);
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] });
      await until('all messages', () => recorder.messages.length >= 3);
      expect(recorder.messages.filter(({ event }) => JSON.stringify(event.data) === JSON.stringify(data))).toHaveLength(
        2,
      );
    }));

  test('every character, in data and keys; keys of data that mean something elsewhere', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const keys = HOSTILE_TEXTS.filter((text) => text !== '' && text.isWellFormed() && !text.includes('\0'));
      const hostile: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":0,"$ref":"#","a.b":1}');
      const sent = [
        ...keys.map((key) => messageOf(key, { key, [key]: key })),
        ...HOSTILE_TEXTS.map((text) => messageOf('texts', { text })),
        messageOf('texts', hostile),
      ];
      await bus.publish(topic, sent);
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] });
      await until('all messages', () => recorder.messages.length >= sent.length);
      for (const { key, event } of sent) {
        const received = recorder.messages.find((message) => message.event.id === event.id);
        expect(received?.key).toBe(key);
        expect(JSON.stringify(received?.event.data)).toBe(JSON.stringify(event.data));
      }
    }));

  test('what is no event is refused before anything is published', () =>
    withBus(harness, async ({ bus, topic }) => {
      const good = messageOf('a');
      const bad = [{ ...messageOf('a'), key: '' }, messageOf('a', 1n)].concat({
        key: 'a',
        event: { ...good.event, data: undefined },
      });
      for (const message of bad) await expect(bus.publish(topic, [good, message])).rejects.toBeInstanceOf(TypeError);
      expect(await bus.last(topic, 10)).toEqual([]);
      expect(new InvalidCloudEvent('x').code).toBe('message_bus.invalid_cloud_event');
    }));

  test('topics are never created by use', () =>
    withBus(harness, async ({ bus, topic, group }) => {
      const missing = `${topic}.missing`;
      const handle = async (): Promise<{ readonly kind: 'done' }> => ({ kind: 'done' });
      await expect(bus.publish(missing, numbered('a', 1))).rejects.toBeInstanceOf(UnknownTopic);
      await expect(bus.consume({ group: group('g'), topics: [topic, missing], handle })).rejects.toMatchObject({
        code: 'message_bus.unknown_topic',
        topic: missing,
      });
      await expect(bus.last(missing, 1)).rejects.toBeInstanceOf(UnknownTopic);
      const tail = bus.tail([missing], { from: 'beginning', follow: false, signal: forever() });
      await expect(collect(tail)).rejects.toBeInstanceOf(UnknownTopic);
      await expect(bus.publish(missing, numbered('a', 1))).rejects.toBeInstanceOf(UnknownTopic);
    }));

  test('making sure of topics again changes nothing', () =>
    withBus(harness, async ({ bus, topic, otherTopic }) => {
      await bus.publish(topic, numbered('a', 3));
      await Promise.all([bus.ensureTopics([topic, otherTopic]), bus.ensureTopics([otherTopic, topic])]);
      expect((await bus.last(topic, 10)).map(numberOf)).toEqual([0, 1, 2]);
    }));

  test('a closed bus says so; closing stops its consumers and finishes what was being published', () =>
    withBus(harness, async ({ bus, topic, group, until, open }) => {
      let handled = 0;
      const options = { group: group('g'), topics: [topic] };
      const handle = async (): Promise<{ readonly kind: 'done' }> => {
        handled += 1;
        return { kind: 'done' };
      };
      await bus.consume({ ...options, handle });
      await bus.publish(topic, numbered('a', 1));
      await until('handled', () => handled === 1);
      const pending = bus.publish(topic, numbered('b', 5));
      await Promise.all([bus.close(), bus.close(), pending]);
      await expect(bus.publish(topic, numbered('a', 1))).rejects.toBeInstanceOf(MessageBusUnavailable);
      await expect(bus.consume({ ...options, handle })).rejects.toBeInstanceOf(MessageBusUnavailable);
      const next = await open();
      expect(await next.last(topic, 10)).toHaveLength(6);
    }));

  test(
    'many messages: published, consumed in order, nothing left',
    () =>
      withBus(harness, async ({ bus, topic, group, until }) => {
        const total = harness.manyMessages ?? 30_000;
        const keys = upTo(20).map((index) => `key${index}`);
        const perKey = total / keys.length;
        await Promise.all(
          keys.map(async (key) => {
            for (let n = 0; n < perKey; n += 250) await bus.publish(topic, numbered(key, Math.min(250, perKey - n), n));
          }),
        );
        const next = new Map<string, number>();
        let ordered = 0;
        const { consumer } = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async (message) => {
          if (numberOf(message) === (next.get(message.key) ?? 0)) ordered += 1;
          next.set(message.key, numberOf(message) + 1);
          return { kind: 'done' };
        });
        let before = 0;
        while (ordered < total) {
          await until('progress', () => ordered > before);
          before = ordered;
        }
        await until('no lag', async () => (await consumer.lag()).messages === 0);
        expect(ordered).toBe(total);
      }),
    120_000,
  );
};
