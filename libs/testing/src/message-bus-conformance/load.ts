import { setTimeout as delay } from 'node:timers/promises';
import type { BusMessage, Handled, MessageBus, Publisher } from '@bindery/message-bus';
import { expect } from '@jest/globals';
import { numbered, numberOf, upTo } from './harness.ts';

/** Keys of the load: they fall into several partitions. */
export const loadKeys: readonly string[] = upTo(8).map((index) => `key${index}`);

/** Publishes again until it is acknowledged: the outcome of a failure is unknown. @returns failures */
export const insist = async (publish: () => Promise<void>): Promise<number> => {
  for (let failures = 0; ; failures += 1) {
    try {
      await publish();
      return failures;
    } catch (error) {
      expect(error).toMatchObject({ code: 'message_bus.unavailable' });
      await delay(50);
    }
  }
};

/** What a consumer that drops repeats sees of each key. */
export class Distinct {
  readonly seen = new Map<string, number[]>();
  repeats = 0;
  readonly #ids = new Set<string>();

  readonly take = async (message: BusMessage): Promise<Handled> => {
    if (this.#ids.has(message.event.id)) this.repeats += 1;
    else {
      this.#ids.add(message.event.id);
      this.seen.set(message.key, [...(this.seen.get(message.key) ?? []), numberOf(message)]);
    }
    return { kind: 'done' };
  };

  get size(): number {
    return this.#ids.size;
  }
}

/** Publishes like the publisher of a service: opened again after a failure, and then going on behind the end of the topic. */
export const publishOnce = async (bus: MessageBus, topic: string, id: string, done: () => boolean) => {
  let publisher: Publisher | undefined;
  let sent = 0;
  for (let n = 0; n === 0 || !done(); n += 1) {
    const batch = loadKeys.flatMap((key) => numbered(key, 1, n));
    await insist(async () => {
      if (publisher === undefined) {
        const next = await bus.openPublisher(id);
        const there = new Set((await bus.last(topic, 100)).map(({ event }) => event.id));
        publisher = next;
        if (batch.some(({ event }) => there.has(event.id))) return;
      }
      try {
        await publisher.publish(topic, batch);
      } catch (error) {
        await publisher.close();
        publisher = undefined;
        throw error;
      }
    });
    sent = n + 1;
  }
  await publisher?.close();
  return sent;
};
