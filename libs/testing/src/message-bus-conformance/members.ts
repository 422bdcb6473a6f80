import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BusMessage, Handled, MessageBus } from '@bindery/message-bus';
import { expect, test } from '@jest/globals';
import { type MessageBusHarness, messageOf, numbered, numberOf, Recorder, upTo, withBus } from './harness.ts';

const keys = upTo(30).map((index) => `key${index}`);

/** Several members of one group. */
export const members = (harness: MessageBusHarness): void => {
  for (const where of ['in one client', 'in two clients'] as const) {
    test(`two members share the partitions, ${where}`, () =>
      withBus(harness, async ({ bus, topic, group, until, open }) => {
        const other = where === 'in one client' ? bus : await open();
        const options = { group: group('g'), topics: [topic] };
        const recorders = [await Recorder.start(bus, options), await Recorder.start(other, options)];
        const share = (recorder: Recorder | undefined): Set<number> =>
          new Set(recorder?.messages.map(({ partition }) => partition));
        let sent = 0;
        await until('both get messages', async () => {
          await bus.publish(
            topic,
            keys.map((key) => messageOf(key, { n: 0 })),
          );
          sent += keys.length;
          return recorders.every((recorder) => share(recorder).size > 0);
        });
        await until('all messages', () => recorders.reduce((sum, { messages }) => sum + messages.length, 0) >= sent);
        const offsets = recorders.flatMap(({ messages }) =>
          messages.map(({ partition, offset }) => `${partition}/${offset}`),
        );
        expect(new Set(offsets).size).toBe(sent);
        expect(offsets).toHaveLength(sent); // the rebalance was orderly: nothing twice
      }));

    test(`members that come and go lose nothing and keep the order, ${where}`, () =>
      withBus(harness, async ({ bus, topic, group, until, open }) => {
        const other = where === 'in one client' ? bus : await open();
        const seen = new Map<string, number[]>();
        const busy = new Set<string>();
        let handled = 0;
        let overlaps = 0;
        const decide = async (message: BusMessage): Promise<Handled> => {
          if (busy.has(message.key)) overlaps += 1;
          busy.add(message.key);
          await nextTurn();
          busy.delete(message.key);
          seen.set(message.key, [...(seen.get(message.key) ?? []), numberOf(message)]);
          handled += 1;
          return { kind: 'done' };
        };
        const join = (client: MessageBus): Promise<Recorder> =>
          Recorder.start(client, { group: group('g'), topics: [topic] }, decide);
        const rounds = 40;
        const publishing = (async () => {
          for (let n = 0; n < rounds; n += 1)
            await bus.publish(
              topic,
              keys.flatMap((key) => numbered(key, 1, n)),
            );
        })();
        const stayer = await join(bus);
        for (let round = 1; round <= 4; round += 1) {
          const guest = await join(other);
          await until('progress', () => handled >= (round * rounds * keys.length) / 5);
          await guest.stop();
        }
        await publishing;
        await until('all messages', () => handled >= rounds * keys.length);
        await stayer.stop();
        expect(overlaps).toBe(0);
        for (const key of keys) expect(seen.get(key)).toEqual(upTo(rounds));
      }));
  }

  test('when a client closes, the other takes all of it', () =>
    withBus(harness, async ({ bus, topic, group, until, open }) => {
      const other = await open();
      const options = { group: group('g'), topics: [topic] };
      const [leaver, stayer] = [await Recorder.start(other, options), await Recorder.start(bus, options)];
      await until('both get messages', async () => {
        await bus.publish(
          topic,
          keys.map((key) => messageOf(key, { n: 0 })),
        );
        return leaver.messages.length > 0 && stayer.messages.length > 0;
      });
      await other.close();
      const before = stayer.messages.length;
      await bus.publish(
        topic,
        keys.map((key) => messageOf(key, { n: 1 })),
      );
      await until(
        'all for the one that stays',
        () => stayer.messages.filter((message) => numberOf(message) === 1).length === keys.length,
      );
      expect(stayer.messages.length).toBeGreaterThanOrEqual(before + keys.length);
    }));
};
