import { MessageBusUnavailable, PublisherFenced } from '@bindery/message-bus';
import { expect, test } from '@jest/globals';
import { collect, type MessageBusHarness, messageOf, numbered, numberOf, Recorder, upTo, withBus } from './harness.ts';

/** Publishers of which only the latest of an id may write. */
export const fencing = (harness: MessageBusHarness): void => {
  test('a publisher publishes in order, to consumers, tails and the end of the topic', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const recorder = await Recorder.start(bus, { group: group('g'), topics: [topic] });
      const publisher = await bus.openPublisher(group('p'));
      for (let n = 0; n < 20; n += 5) await publisher.publish(topic, numbered('a', 5, n));
      await publisher.publish(topic, []);
      await until('all messages', () => recorder.messages.length >= 20);
      expect(recorder.numbers('a')).toEqual(upTo(20));
      expect((await bus.last(topic, 7)).map(numberOf)).toEqual(upTo(20).slice(13));
      const { signal } = new AbortController();
      const read = await collect(bus.tail([topic], { from: 'beginning', follow: false, signal }));
      expect(read.map(numberOf)).toEqual(upTo(20));
      await until('no lag', async () => (await recorder.consumer.lag()).messages === 0);
      await publisher.close();
    }));

  for (const where of ['in one client', 'in two clients'] as const) {
    test(`opening a publisher refuses every earlier one of its id, ${where}`, () =>
      withBus(harness, async ({ bus, topic, group, open }) => {
        const other = where === 'in one client' ? bus : await open();
        const id = group('p');
        const first = await bus.openPublisher(id);
        await first.publish(topic, numbered('a', 2));
        const second = await other.openPublisher(id);
        await expect(first.publish(topic, numbered('a', 1, 90))).rejects.toMatchObject({
          code: 'message_bus.publisher_fenced',
          publisher: id,
        });
        await second.publish(topic, numbered('a', 2, 2));
        await expect(first.publish(topic, numbered('a', 1, 91))).rejects.toBeInstanceOf(PublisherFenced);
        const third = await bus.openPublisher(id);
        await expect(second.publish(topic, numbered('a', 1, 92))).rejects.toBeInstanceOf(PublisherFenced);
        await third.publish(topic, numbered('a', 2, 4));
        expect((await bus.last(topic, 100)).map(numberOf)).toEqual(upTo(6));
        for (const publisher of [first, second, third]) await publisher.close();
      }));
  }

  test('many that open at once: exactly one may write in the end', () =>
    withBus(harness, async ({ bus, topic, group, open }) => {
      const other = await open();
      const publishers = await Promise.all(
        upTo(4).map((index) => (index % 2 === 0 ? bus : other).openPublisher(group('p'))),
      );
      const results = await Promise.allSettled(
        publishers.map((publisher, index) => publisher.publish(topic, numbered('a', 1, index))),
      );
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(PublisherFenced);
      }
      expect(await bus.last(topic, 10)).toHaveLength(1);
    }));

  test('ids do not know of each other, nor does the plain publish', () =>
    withBus(harness, async ({ bus, topic, group }) => {
      const [one, two] = [await bus.openPublisher(group('one')), await bus.openPublisher(group('two'))];
      await one.publish(topic, numbered('a', 1));
      await two.publish(topic, numbered('a', 1, 1));
      await bus.publish(topic, numbered('a', 1, 2));
      await one.publish(topic, numbered('a', 1, 3));
      expect((await bus.last(topic, 10)).map(numberOf)).toEqual(upTo(4));
    }));

  test('what is no event is refused, and the publisher goes on', () =>
    withBus(harness, async ({ bus, topic, group }) => {
      const publisher = await bus.openPublisher(group('p'));
      const batch = [messageOf('a', { n: 9 }), messageOf('a', 1n)];
      await expect(publisher.publish(topic, batch)).rejects.toBeInstanceOf(TypeError);
      await publisher.publish(topic, numbered('a', 1));
      expect((await bus.last(topic, 10)).map(numberOf)).toEqual([0]);
      await expect(bus.openPublisher('not a name')).rejects.toBeInstanceOf(TypeError);
    }));

  test('a closed publisher says so', () =>
    withBus(harness, async ({ bus, topic, group }) => {
      const publisher = await bus.openPublisher(group('p'));
      const pending = publisher.publish(topic, numbered('a', 1));
      await Promise.all([publisher.close(), publisher.close(), pending]);
      await expect(publisher.publish(topic, numbered('a', 1, 1))).rejects.toBeInstanceOf(MessageBusUnavailable);
      expect((await bus.last(topic, 10)).map(numberOf)).toEqual([0]);
    }));
};
