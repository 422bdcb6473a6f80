import type { ConsumerOptions, DeadLetter, Handled, ParkedKey, RunningConsumer } from '@bindery/message-bus';
import { expect, test } from '@jest/globals';
import { gate, type MessageBusHarness, numbered, numberOf, Recorder, upTo, withBus } from './harness.ts';

/** Every letter of a key, page by page. */
const lettersOf = async (consumer: RunningConsumer, topic: string, key: string, limit: number) => {
  const letters: DeadLetter[] = [];
  for (let after: string | undefined; ; ) {
    const page = await consumer.letters(topic, key, { limit, ...(after === undefined ? {} : { after }) });
    expect(page.letters.length).toBeLessThanOrEqual(limit);
    letters.push(...page.letters);
    if (page.next === undefined) return letters;
    after = page.next;
  }
};

/** What an operator sees of parked keys and does about them. */
export const operating = (harness: MessageBusHarness): void => {
  const park = async (): Promise<Handled> => ({ kind: 'park', reason: 'not yet' });

  test('parked keys are listed page by page, by topic and key, with how long they wait', () =>
    withBus(harness, async ({ bus, topic, otherTopic, group, until }) => {
      const began = Date.now();
      const { consumer } = await Recorder.start(bus, { group: group('g'), topics: [topic, otherTopic] }, park);
      const keys = upTo(5).map((index) => `key${index}`);
      await bus.publish(
        topic,
        keys.flatMap((key) => numbered(key, 2)),
      );
      await bus.publish(otherTopic, numbered('key1', 1));
      const all = (): Promise<readonly ParkedKey[]> => consumer.parked({ fresh: true });
      await until('all parked', async () => (await all()).reduce((sum, { messages }) => sum + messages, 0) === 11);
      const expected = [...keys.map((key) => ({ topic, key })), { topic: otherTopic, key: 'key1' }];
      expected.sort((a, b) => (a.topic === b.topic ? 0 : a.topic < b.topic ? -1 : 1));
      const pages: (readonly ParkedKey[])[] = [];
      for (let after: ParkedKey | undefined; ; after = pages.at(-1)?.at(-1)) {
        const page = await consumer.parked({ limit: 4, ...(after === undefined ? {} : { after }) });
        if (page.length === 0) break;
        pages.push(page);
      }
      expect(pages.map(({ length }) => length)).toEqual([4, 2]);
      expect(pages.flat().map(({ topic: name, key }) => ({ topic: name, key }))).toEqual(expected);
      for (const { attempts, since, releasing } of pages.flat()) {
        expect({ attempts, releasing }).toEqual({ attempts: 1, releasing: false });
        expect(Date.parse(since)).toBeGreaterThanOrEqual(began - 1000);
        expect(Date.parse(since)).toBeLessThanOrEqual(Date.now() + 1000);
      }
      expect(await consumer.parked({ only: { topic, key: 'key3' } })).toEqual([
        pages.flat().find(({ key }) => key === 'key3'),
      ]);
      expect(await consumer.parked({ only: { topic, key: 'key9' } })).toEqual([]);
    }));

  test('the letters of a key are shown oldest first, with what was published and why they are here', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      const { consumer } = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async ({ key }) =>
        key === 'fine' ? { kind: 'done' } : { kind: 'park', reason: 'not yet' },
      );
      const sent = numbered('a', 7);
      for (const message of sent) await bus.publish(topic, [message, ...numbered('b', 1), ...numbered('fine', 1)]);
      await until('all parked', async () => {
        const parked = await consumer.parked();
        return parked.length === 2 && parked.every(({ messages }) => messages === 7);
      });
      const letters = await lettersOf(consumer, topic, 'a', 3);
      expect(letters.map(({ event }) => event)).toEqual(sent.map(({ event }) => event));
      expect(letters.map(({ attempts }) => attempts)).toEqual([1, 0, 0, 0, 0, 0, 0]);
      expect(letters[0]).toMatchObject({ topic, key: 'a', reason: 'not yet' });
      for (const letter of letters.slice(1)) expect(letter.reason).toMatch(/waits behind/);
      for (const { bytes, parkedAt } of letters) {
        expect(bytes).toBeGreaterThan(0);
        expect(Math.abs(Date.parse(parkedAt) - Date.now())).toBeLessThan(60_000);
      }
      const offsets = letters.map(({ offset }) => BigInt(offset));
      expect(offsets).toEqual([...offsets].sort((a, b) => (a < b ? -1 : 1)));
      expect(await consumer.letters(topic, 'fine', { limit: 10 })).toEqual({ letters: [] });
      await expect(consumer.letters(topic, 'a', { limit: 10, after: 'nonsense' })).rejects.toBeInstanceOf(RangeError);
    }));

  test('a key that fails again keeps its time, counts the attempts, and shows only what is left', () =>
    withBus(harness, async ({ bus, topic, group, until }) => {
      let poison = 1;
      const { consumer } = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async (message) =>
        numberOf(message) === poison ? { kind: 'park', reason: `number ${poison}` } : { kind: 'done' },
      );
      await bus.publish(topic, numbered('a', 5));
      await until('parked', async () => (await consumer.parked())[0]?.messages === 4);
      const [first] = await consumer.parked();
      await consumer.release(topic, 'a');
      expect(await consumer.parked()).toEqual([{ ...first, attempts: 2 }]);
      poison = 3;
      await consumer.release(topic, 'a');
      expect(await consumer.parked()).toEqual([{ ...first, reason: 'number 3', attempts: 1, messages: 2 }]);
      const left = await lettersOf(consumer, topic, 'a', 10);
      expect(left.map(({ event }) => event?.data)).toEqual([{ n: 3 }, { n: 4 }]);
    }));

  test('the first message of a parked key is given up, by its offset; those behind it go on in order', () =>
    withBus(harness, async ({ bus, topic, group, until, open }) => {
      const poison = new Set([1, 3]);
      const options = { group: group('g'), topics: [topic] };
      const tried: number[] = [];
      const handle: ConsumerOptions['handle'] = async (message) => {
        if (!poison.has(numberOf(message))) return { kind: 'done' };
        tried.push(numberOf(message));
        return { kind: 'park', reason: 'poison' };
      };
      const worker = await Recorder.start(bus, options, handle);
      await bus.publish(topic, numbered('a', 6));
      await until('parked', async () => (await worker.consumer.parked())[0]?.messages === 5);
      const other = await Recorder.start(await open(), options, handle);
      const offsets = (await lettersOf(worker.consumer, topic, 'a', 10)).map(({ offset }) => offset);
      // Another one than the first stays, and so does everything of a key that is not parked.
      expect(await worker.consumer.discard(topic, 'a', offsets[1] ?? '')).toBe(false);
      expect(await worker.consumer.discard(topic, 'fine', offsets[0] ?? '')).toBe(false);
      expect((await worker.consumer.parked({ fresh: true }))[0]?.messages).toBe(5);
      // Whoever is asked: the one that works on the key does it.
      expect(await other.consumer.discard(topic, 'a', offsets[0] ?? '')).toBe(true);
      expect(await worker.consumer.parked({ fresh: true })).toMatchObject([
        { messages: 3, attempts: 1, reason: 'poison' },
      ]);
      // What is the first now is not given up for one that was.
      expect(await other.consumer.discard(topic, 'a', offsets[0] ?? '')).toBe(false);
      expect(await worker.consumer.discard(topic, 'a', offsets[2] ?? '')).toBe(true);
      expect(await other.consumer.parked({ fresh: true })).toEqual([]);
      expect([...worker.numbers('a'), ...other.numbers('a')]).toEqual([0, 2, 4, 5]);
      // No handler had either of them once more.
      expect(tried).toEqual([1, 3]);
    }));

  test('messages without a key, and those of a very long one, are seen, released and given up like others', () =>
    withBus(harness, async ({ bus, place, topic, group, until }) => {
      let poison = true;
      const worker = await Recorder.start(bus, { group: group('g'), topics: [topic] }, async () =>
        poison ? { kind: 'park', reason: 'poison' } : { kind: 'done' },
      );
      const { consumer } = worker;
      const long = 'k'.repeat(5000);
      await bus.publish(topic, numbered(long, 2));
      await place.writeKeyless(
        topic,
        numbered('a', 5).map(({ event }) => event),
      );
      const all = (): Promise<readonly ParkedKey[]> => consumer.parked({ fresh: true });
      const waiting = (keys: readonly ParkedKey[]): number => keys.reduce((sum, { messages }) => sum + messages, 0);
      await until('all parked', async () => waiting(await all()) === 7);
      const keys = await all();
      const pages: ParkedKey[] = [];
      for (let after: ParkedKey | undefined; pages.length <= keys.length; after = pages.at(-1)) {
        const page = await consumer.parked({ limit: 1, ...(after === undefined ? {} : { after }) });
        if (page.length === 0) break;
        pages.push(...page);
      }
      expect(pages).toEqual(keys);
      poison = false;
      const givenUp: DeadLetter[] = [];
      for (const { key, messages } of keys) {
        expect(await consumer.parked({ only: { topic, key } })).toMatchObject([{ key, messages }]);
        const letters = await lettersOf(consumer, topic, key, 2);
        expect(letters).toHaveLength(messages);
        if (key === long) await consumer.release(topic, key);
        else {
          givenUp.push(...letters.slice(0, 1));
          expect(await consumer.discard(topic, key, letters[0]?.offset ?? '')).toBe(true);
        }
      }
      expect(await all()).toEqual([]);
      expect(worker.numbers(long)).toEqual([0, 1]);
      const done = [...worker.numbers(''), ...givenUp.map(({ event }) => Object(event?.data).n)];
      expect(done.sort()).toEqual(upTo(5));
    }));

  test('a release that takes long is left alone by whoever asked, and seen to be under way', () =>
    withBus(harness, async ({ bus, topic, group, until, open }) => {
      const { opened, open: letGo } = gate();
      let released = false;
      const options = { group: group('g'), topics: [topic] };
      const worker = await Recorder.start(bus, options, async () => {
        if (!released) return { kind: 'park', reason: 'not yet' };
        await opened;
        return { kind: 'done' };
      });
      await bus.publish(topic, numbered('a', 3));
      await until('parked', async () => (await worker.consumer.parked())[0]?.messages === 3);
      released = true;
      const other = await Recorder.start(await open(), { ...options }, async () => {
        await opened;
        return { kind: 'done' };
      });
      await other.consumer.release(topic, 'a', AbortSignal.timeout(50));
      await until('it shows', async () => (await worker.consumer.parked({ fresh: true }))[0]?.releasing === true);
      letGo();
      await until('it is free', async () => (await other.consumer.parked({ fresh: true })).length === 0);
      expect([...worker.numbers('a'), ...other.numbers('a')]).toEqual([0, 1, 2]);
    }));

  test('a release that was asked for before everybody stopped goes on with the next member', () =>
    withBus(harness, async ({ bus, topic, group, until, open, place }) => {
      const options = { group: group('g'), topics: [topic] };
      let asked = false;
      const patient = { ...options, backoffMs: 30_000 };
      const first = await Recorder.start(bus, patient, async () =>
        asked ? { kind: 'retry', reason: 'later' } : { kind: 'park', reason: 'not yet' },
      );
      await bus.publish(topic, numbered('a', 4));
      await until('parked', async () => (await first.consumer.parked())[0]?.messages === 4);
      asked = true;
      await first.consumer.release(topic, 'a', AbortSignal.timeout(20));
      await bus.close();
      await place.restart?.();
      const next = await open();
      const second = await Recorder.start(next, options);
      await next.publish(topic, numbered('a', 2, 4));
      await until('all of the key', () => second.numbers('a').length >= 6);
      expect(second.numbers('a')).toEqual(upTo(6));
      expect(await second.consumer.parked({ fresh: true })).toEqual([]);
    }));
};
