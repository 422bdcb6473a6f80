import { deadLetterTopic, type Handled, type ParkedKey } from '@bindery/message-bus';
import { expect, test } from '@jest/globals';
import { gate, type MessageBusHarness, numbered, Recorder, withBus } from './harness.ts';

/** Keys whose dead letters are gone. */
export const forgetting = (harness: MessageBusHarness): void => {
  const options = (group: string, topic: string) => ({ group, topics: [topic] });

  test('a key whose dead letters are gone stays parked over a release, until it is forgotten', () =>
    withBus(harness, async ({ bus, place, topic, group, until, open }) => {
      const handle = async ({ event }: { event: { data: unknown } }): Promise<Handled> =>
        Number(Object(event.data).n) === 0 ? { kind: 'park', reason: 'poison' } : { kind: 'done' };
      const worker = await Recorder.start(bus, options(group('g'), topic), handle);
      const other = await Recorder.start(await open(), options(group('g'), topic), handle);
      await bus.publish(topic, [...numbered('a', 3), ...numbered('b', 2)]);
      const all = (): Promise<readonly ParkedKey[]> => other.consumer.parked({ fresh: true });
      const waiting = async (): Promise<readonly number[]> => (await all()).map(({ messages }) => messages);
      await until('all parked', async () => String(await waiting()) === '3,2');
      // Nothing is forgotten while its letters are there, and nothing that is not parked.
      expect(await other.consumer.forget(topic, 'a')).toBe(false);
      expect(await other.consumer.forget(topic, 'fine')).toBe(false);
      const [known] = await all();
      // When they are gone,
      await place.loseMessages(deadLetterTopic(group('g')));
      // then that is seen, and a release changes nothing.
      expect(await other.consumer.letters(topic, 'a', { limit: 10 })).toEqual({ letters: [] });
      await other.consumer.release(topic, 'a');
      expect((await all())[0]).toEqual(known);
      // Given letters that have come since,
      await bus.publish(topic, numbered('a', 2, 3));
      await until('five', async () => String(await waiting()) === '5,2');
      const { letters } = await other.consumer.letters(topic, 'a', { limit: 10 });
      expect(letters.map(({ event }) => event?.data)).toEqual([{ n: 3 }, { n: 4 }]);
      const first = await other.consumer.letters(topic, 'a', { limit: 1 });
      expect(first.letters.map(({ event }) => event?.data)).toEqual([{ n: 3 }]);
      // when the key is to be forgotten, then it is not; they are released first,
      expect(await other.consumer.forget(topic, 'a')).toBe(false);
      await other.consumer.release(topic, 'a');
      expect(await waiting()).toEqual([3, 2]);
      // and then it is, by whomever that is asked, once; others stay as they are.
      expect(await other.consumer.forget(topic, 'a')).toBe(true);
      expect(await worker.consumer.forget(topic, 'a')).toBe(false);
      expect((await all()).map(({ key }) => key)).toEqual(['b']);
      await bus.publish(topic, numbered('a', 3, 5));
      const handled = (): readonly number[] => [...worker.numbers('a'), ...other.numbers('a')];
      await until('what comes then', () => handled().length >= 5);
      expect(handled()).toEqual([3, 4, 5, 6, 7]);
    }));

  test('a key that was forgotten is parked anew by what fails then', () =>
    withBus(harness, async ({ bus, place, topic, group, until }) => {
      let why = 'poison';
      const { consumer } = await Recorder.start(bus, options(group('g'), topic), async () => ({
        ...{ kind: 'park', reason: why },
      }));
      await bus.publish(topic, numbered('a', 3));
      await until('parked', async () => (await consumer.parked())[0]?.messages === 3);
      await place.loseMessages(deadLetterTopic(group('g')));
      expect(await consumer.forget(topic, 'a')).toBe(true);
      why = 'still';
      await bus.publish(topic, numbered('a', 1, 3));
      await until('parked anew', async () => (await consumer.parked())[0]?.messages === 1);
      expect(await consumer.parked()).toMatchObject([{ reason: 'still', attempts: 1, releasing: false }]);
      const { letters } = await consumer.letters(topic, 'a', { limit: 10 });
      expect(letters.map(({ event }) => event?.data)).toEqual([{ n: 3 }]);
    }));

  test('a key is not forgotten while it is released', () =>
    withBus(harness, async ({ bus, place, topic, group, until }) => {
      const { opened, open: letGo } = gate();
      let released = false;
      const { consumer } = await Recorder.start(bus, options(group('g'), topic), async () => {
        if (!released) return { kind: 'park', reason: 'not yet' };
        await opened;
        return { kind: 'done' };
      });
      await bus.publish(topic, numbered('a', 1));
      await until('parked', async () => (await consumer.parked())[0]?.messages === 1);
      released = true;
      await consumer.release(topic, 'a', AbortSignal.timeout(50));
      await place.loseMessages(deadLetterTopic(group('g')));
      expect(await consumer.forget(topic, 'a')).toBe(false);
      letGo();
      await until('it is free', async () => (await consumer.parked({ fresh: true })).length === 0);
    }));
};
