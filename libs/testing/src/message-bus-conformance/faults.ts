import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { BusMessage, Handled, MessageBus } from '@bindery/message-bus';
import { describe, expect, test } from '@jest/globals';
import { gate, type Numbered, numbered, Recorder, upTo } from './harness.ts';
import { Distinct, insist, loadKeys as keys, publishOnce } from './load.ts';

/** A broker that can be broken, real or a double, with data that outlive it. */
export interface BreakableBroker {
  /** A new client, with short timeouts: nothing may take longer than `patienceMs`. */
  open(): Promise<MessageBus>;
  /** Sees that it runs and answers, whatever a test before has left. */
  start(): Promise<void>;
  /** Ends it without warning. */
  kill(): Promise<void>;
  /** Starts it again where it was, with what it had. Resolves when it answers. */
  restart(): Promise<void>;
  /** Connected, but nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface BrokerFaults {
  /** The broker; shared by all tests of the suite. */
  broker(): BreakableBroker;
  /** The longest that a client may take to come back, in ms. */
  readonly patienceMs: number;
  /** How long the broker is frozen, in ms. */
  readonly frozenMs: number;
  /** Messages that wait while the broker restarts. */
  readonly queued: number;
  /** Kills under load. */
  readonly kills: number;
}

const freshTopic = (): string => `bindery.faults-${randomUUID().slice(0, 8)}.v1`;

/** What a message bus promises while its broker dies, freezes and comes back. Minutes with a real one. */
export const describeMessageBusFaults = (name: string, faults: BrokerFaults): void => {
  const { patienceMs, frozenMs, queued, kills } = faults;
  const longest = 10 * patienceMs + 3 * frozenMs;

  const within = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
    const end = performance.now() + patienceMs + frozenMs;
    while (!(await condition())) {
      if (performance.now() > end) throw new Error(`not within ${patienceMs + frozenMs} ms: ${what}`);
      await delay(20);
    }
  };
  const withClients = async (work: (bus: MessageBus, topic: string, broker: BreakableBroker) => Promise<void>) => {
    const broker = faults.broker();
    await broker.start();
    const bus = await broker.open();
    try {
      const topic = freshTopic();
      await bus.ensureTopics([topic]);
      await work(bus, topic, broker);
    } finally {
      await bus.close();
    }
  };

  describe(`message bus: ${name} that fails`, () => {
    test(
      'killed under load: every acknowledged message arrives, in order of each key',
      () =>
        withClients(async (bus, topic, broker) => {
          const distinct = new Distinct();
          await Recorder.start(bus, { group: `g-${topic}`, topics: [topic] }, distinct.take);
          let killing = true;
          let sent = 0;
          const publishing = (async () => {
            for (; killing; sent += 1) {
              const batch = keys.flatMap((key) => numbered(key, 1, sent));
              await insist(() => bus.publish(topic, batch));
            }
          })();
          for (let round = 0; round < kills; round += 1) {
            const before = distinct.size;
            await within('messages flow', () => distinct.size > before + 100);
            await broker.kill();
            await broker.restart();
          }
          await within('messages flow again', () => distinct.size > 0);
          killing = false;
          await publishing;
          await within('all messages', () => distinct.size >= sent * keys.length);
          for (const key of keys) expect(distinct.seen.get(key)).toEqual(upTo(sent));
        }),
      longest,
    );

    test(
      'killed under load: what a publisher writes is there exactly once',
      () =>
        withClients(async (bus, topic, broker) => {
          const distinct = new Distinct();
          await Recorder.start(bus, { group: `g-${topic}`, topics: [topic] }, distinct.take);
          let over = false;
          const publishing = publishOnce(bus, topic, `p-${topic}`, () => over);
          for (let round = 0; round < kills; round += 1) {
            const before = distinct.size;
            await within('messages flow', () => distinct.size > before + 100);
            await broker.kill();
            await broker.restart();
          }
          over = true;
          const sent = await publishing;
          await within('all messages', () => distinct.size >= sent * keys.length);
          for (const key of keys) expect(distinct.seen.get(key)).toEqual(upTo(sent));
          const all = await bus.last(topic, 10_000);
          expect(new Set(all.map(({ event }) => event.id)).size).toBe(all.length);
        }),
      longest,
    );

    test(
      'frozen: publishing answers in bounded time, and afterwards everything goes on by itself',
      () =>
        withClients(async (bus, topic, broker) => {
          const distinct = new Distinct();
          await Recorder.start(bus, { group: `g-${topic}`, topics: [topic] }, distinct.take);
          await bus.publish(topic, numbered('a', 5));
          await within('the first messages', () => distinct.size === 5);
          await broker.pause();
          const frozen = performance.now();
          const rest = numbered('a', 5, 5);
          await expect(bus.publish(topic, rest)).rejects.toMatchObject({ code: 'message_bus.unavailable' });
          expect(performance.now() - frozen).toBeLessThan(patienceMs);
          await delay(Math.max(0, frozenMs - (performance.now() - frozen)));
          await broker.resume();
          await insist(() => bus.publish(topic, rest));
          await within('the rest', () => distinct.size === 10);
          expect(distinct.seen.get('a')).toEqual(upTo(10));
        }),
      longest,
    );

    test(
      `${queued} messages that waited over a restart are handled in order`,
      () =>
        withClients(async (bus, topic, broker) => {
          const group = `g-${topic}`;
          const perKey = queued / keys.length;
          for (let n = 0; n < perKey; n += 125)
            await bus.publish(
              topic,
              keys.flatMap((key) => numbered(key, Math.min(125, perKey - n), n)),
            );
          await broker.kill();
          await broker.restart();
          const distinct = new Distinct();
          const { consumer } = await Recorder.start(bus, { group, topics: [topic] }, distinct.take);
          await within('all of them', () => distinct.size >= queued);
          for (const key of keys) expect(distinct.seen.get(key)).toEqual(upTo(perKey));
          await within('no lag', async () => (await consumer.lag()).messages === 0);
        }),
      longest,
    );

    test(
      'parked keys stay parked when the broker dies, and are released in order',
      () =>
        withClients(async (bus, topic, broker) => {
          let poison = true;
          const recorder = await Recorder.start(bus, { group: `g-${topic}`, topics: [topic] }, async (message) =>
            poison && message.key === 'a' ? { kind: 'park', reason: 'no' } : { kind: 'done' },
          );
          await bus.publish(topic, numbered('a', 20));
          await within('parked', async () => (await recorder.consumer.parked())[0]?.messages === 20);
          await broker.kill();
          await broker.restart();
          await insist(() => bus.publish(topic, numbered('a', 5, 20)));
          await within('the later ones too', async () => ((await recorder.consumer.parked())[0]?.messages ?? 0) >= 25);
          poison = false;
          await recorder.consumer.release(topic, 'a');
          expect([...new Set(recorder.numbers('a'))]).toEqual(upTo(25));
        }),
      longest,
    );

    test(
      'a member that joins while another has a message in hand waits for it',
      () =>
        withClients(async (bus, topic, broker) => {
          const other = await broker.open();
          const { opened, open } = gate();
          const busy = new Set<string>();
          const handled: string[] = [];
          let overlaps = 0;
          const decide = async ({ key, event }: BusMessage): Promise<Handled> => {
            if (busy.has(key)) overlaps += 1;
            busy.add(key);
            await opened;
            busy.delete(key);
            handled.push(`${key}/${(event.data as Numbered).n}`);
            return { kind: 'done' };
          };
          const options = { group: `g-${topic}`, topics: [topic] };
          await Recorder.start(bus, options, decide);
          await bus.publish(
            topic,
            keys.flatMap((key) => numbered(key, 20)),
          );
          await within('messages in hand', () => busy.size > 1);
          const joining = Recorder.start(other, options, decide);
          await delay(1500); // longer than it takes the first member to hear of the second
          open();
          await joining;
          await within('all', () => handled.length >= keys.length * 20);
          expect(overlaps).toBe(0);
          expect(new Set(handled).size).toBe(handled.length);
          await other.close();
        }),
      longest,
    );
  });
};
