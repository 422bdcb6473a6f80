import {
  type BusMessage,
  DEAD_LETTER_HEADERS,
  deadLetterTopic,
  type Handled,
  type MessageBus,
} from '@bindery/message-bus';
import { expect, test } from '@jest/globals';
import { collect, type MessageBusHarness, numbered, numberOf, Recorder, upTo, withBus } from './harness.ts';

const deadLettersOf = (bus: MessageBus, group: string): Promise<BusMessage[]> =>
  collect(
    bus.tail([deadLetterTopic(group)], { from: 'beginning', follow: false, signal: new AbortController().signal }),
  );

/** Poison: parked keys, dead letters, release. */
export const parking = (harness: MessageBusHarness): void => {
  /** Parks `poison` number 1 as long as it is on. */
  const poisoned =
    (state: { on: boolean }) =>
    async (message: BusMessage): Promise<Handled> =>
      state.on && message.key === 'poison' && numberOf(message) === 1
        ? { kind: 'park', reason: 'cannot be read' }
        : { kind: 'done' };

  test('a parked key waits with all that follows it; other keys flow; released, its order holds', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const state = { on: true };
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] }, poisoned(state));
      const others = upTo(12).map((index) => `fine${index}`);
      await bus.publish(topic, numbered('poison', 4));
      for (const key of others) await bus.publish(topic, numbered(key, 5));
      const handled = (): number => recorder.messages.length;
      await until('all others', () => handled() >= 1 + others.length * 5);
      await until('three parked', async () => (await recorder.consumer.parked())[0]?.messages === 3);
      expect(recorder.numbers('poison')).toEqual([0]);
      expect(await recorder.consumer.parked()).toMatchObject([
        { topic, key: 'poison', reason: 'cannot be read', attempts: 1, messages: 3, releasing: false },
      ]);
      await bus.publish(topic, numbered('poison', 2, 4));
      await until('five parked', async () => (await recorder.consumer.parked())[0]?.messages === 5);
      state.on = false;
      await recorder.consumer.release(topic, 'poison');
      await bus.publish(topic, numbered('poison', 2, 6));
      await until('all of the key', () => recorder.numbers('poison').length >= 8);
      expect(recorder.numbers('poison')).toEqual(upTo(8));
      expect(await recorder.consumer.parked()).toEqual([]);
      for (const key of others) expect(recorder.numbers(key)).toEqual(upTo(5));
    }));

  test('messages that arrive during the release come after those that were parked', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const state = { on: true };
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] }, poisoned(state));
      await bus.publish(topic, numbered('poison', 100));
      await until('parked', async () => (await recorder.consumer.parked())[0]?.messages === 99);
      state.on = false;
      const releasing = recorder.consumer.release(topic, 'poison');
      for (let n = 100; n < 120; n += 1) await bus.publish(topic, numbered('poison', 1, n));
      await releasing;
      await until('all of the key', () => recorder.numbers('poison').length >= 120);
      expect(recorder.numbers('poison')).toEqual(upTo(120));
    }));

  test('a key that is poison still is parked again, with what was before it done', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      let poison = 1;
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async (message) =>
        numberOf(message) === poison ? { kind: 'park', reason: `number ${poison}` } : { kind: 'done' },
      );
      await bus.publish(topic, numbered('a', 5));
      await until('parked', async () => (await recorder.consumer.parked())[0]?.messages === 4);
      poison = 3;
      await recorder.consumer.release(topic, 'a');
      expect(recorder.numbers('a')).toEqual([0, 1, 2]);
      expect(await recorder.consumer.parked()).toMatchObject([{ topic, key: 'a', reason: 'number 3', messages: 2 }]);
      poison = -1;
      await recorder.consumer.release(topic, 'a');
      expect(recorder.numbers('a')).toEqual(upTo(5));
      expect(await recorder.consumer.parked()).toEqual([]);
    }));

  test('after the last attempt a message is parked, with its reason', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      let attempts = 0;
      const recorder = await Recorder.start(
        bus,
        { group: group('g'), topics: [topic], maxAttempts: 3 },
        async (message) => {
          if (message.key !== 'a') return { kind: 'done' };
          attempts += 1;
          throw new Error('always broken');
        },
      );
      await bus.publish(topic, [...numbered('a', 2), ...numbered('b', 2)]);
      await until('parked', async () => (await recorder.consumer.parked())[0]?.messages === 2);
      await until('the other key', () => recorder.messages.length >= 2);
      expect(attempts).toBe(3);
      const [parked] = await recorder.consumer.parked();
      expect(parked?.reason).toMatch(/3 attempts.*always broken/);
    }));

  test('a dead letter keeps the message and says where it came from and why', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic], maxAttempts: 2 }, async () => {
        throw new Error('no');
      });
      const sent = numbered('a', 2);
      await bus.publish(topic, sent);
      await until('parked', async () => (await recorder.consumer.parked())[0]?.messages === 2);
      const originals = await bus.last(topic, 2);
      const letters = await deadLettersOf(bus, group('g'));
      expect(letters.map(({ key, event }) => ({ key, event }))).toEqual(sent);
      for (const [index, letter] of letters.entries()) {
        const original = originals[index];
        expect(letter.headers).toMatchObject({
          ...original?.headers,
          [DEAD_LETTER_HEADERS.topic]: topic,
          [DEAD_LETTER_HEADERS.partition]: String(original?.partition),
          [DEAD_LETTER_HEADERS.offset]: original?.offset,
          [DEAD_LETTER_HEADERS.attempts]: index === 0 ? '2' : '0',
        });
        expect(letter.headers[DEAD_LETTER_HEADERS.reason]).toMatch(index === 0 ? /no/ : /waits behind/);
      }
    }));

  test('parked keys stay parked over a restart, and are released there in order', () =>
    withBus(harness, async ({ bus, topic, group, until, open, place }) => {
      const state = { on: true };
      const options = { group: group('g'), topics: [topic] };
      const first = await Recorder.start(bus, options, poisoned(state));
      await bus.publish(topic, numbered('poison', 3));
      await until('parked', async () => (await first.consumer.parked())[0]?.messages === 2);
      await bus.close();
      await place.restart?.();
      state.on = false;
      const next = await open();
      const second = await Recorder.start(next, options, poisoned(state));
      await next.publish(topic, [...numbered('poison', 2, 3), ...numbered('fine', 2)]);
      await until('the later ones parked too', async () => (await second.consumer.parked())[0]?.messages === 4);
      await until('the other key', () => second.messages.length >= 2);
      expect(second.numbers('poison')).toEqual([]);
      await second.consumer.release(topic, 'poison');
      expect(second.numbers('poison')).toEqual([1, 2, 3, 4]);
    }));

  test('any member releases any key; a key that is not parked is released already', () =>
    withBus(harness, async ({ bus, topic, group, until, open }) => {
      const state = { on: true };
      const options = { group: group('g'), topics: [topic] };
      const members = [
        await Recorder.start(bus, options, poisoned(state)),
        await Recorder.start(await open(), options, poisoned(state)),
      ];
      await bus.publish(topic, numbered('poison', 3));
      const parked = async (): Promise<number> => (await members[0]?.consumer.parked())?.[0]?.messages ?? 0;
      await until('parked', async () => (await parked()) === 2);
      state.on = false;
      for (const { consumer } of members) await consumer.release(topic, 'poison');
      await until('all handled', () => members.flatMap((member) => member.numbers('poison')).length >= 3);
      expect(members.flatMap((member) => member.numbers('poison')).sort()).toEqual([0, 1, 2]);
      await members[0]?.consumer.release(topic, 'never seen');
    }));

  test('groups park for themselves', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const strict = await Recorder.start(bus, { group: group('strict'), topics: [topic] }, poisoned({ on: true }));
      const easy = await Recorder.start(bus, { group: group('easy'), topics: [topic] });
      await bus.publish(topic, numbered('poison', 3));
      await until('parked there', async () => (await strict.consumer.parked())[0]?.messages === 2);
      await until('handled here', () => easy.messages.length >= 3);
      expect(await easy.consumer.parked()).toEqual([]);
      expect(await deadLettersOf(bus, group('easy'))).toEqual([]);
    }));
};
