import { type BusMessage, MessageBusUnavailable, UnknownTopic } from '../../port.ts';
import { toBusMessage } from './messages.ts';
import { followWaitMs, type KafkaSettings } from './options.ts';
import { Reader } from './reader.ts';
import { backOff, pause } from './within.ts';

const PAGE_BYTES = 1024 * 1024;
const RETRY_MS = 200;
const MAX_RETRY_MS = 5000;

interface Position {
  readonly topic: string;
  readonly partition: number;
  next: bigint;
  readonly end: bigint;
}

export interface TailOptions {
  readonly from: 'beginning' | 'end';
  readonly follow: boolean;
  readonly signal: AbortSignal;
  readonly closed: AbortSignal;
}

const positionsIn = async (
  reader: Reader,
  topics: readonly string[],
  { from, follow }: TailOptions,
): Promise<Position[]> => {
  const positions: Position[] = [];
  for (const topic of topics) {
    await reader.partitionsOf(topic);
    const [first, next] = await Promise.all([
      reader.offsets(topic, 'first'),
      follow ? reader.offsets(topic, 'next') : reader.ends(topic),
    ]);
    for (const [partition, end] of next) {
      positions.push({ topic, partition, next: from === 'end' ? end : (first.get(partition) ?? 0n), end });
    }
  }
  return positions;
};

/** Reads one page of everything that is not at its end. @returns the messages, in the order of each partition */
const readPage = async (
  reader: Reader,
  positions: readonly Position[],
  { follow }: TailOptions,
  waitMs: number,
): Promise<readonly BusMessage[]> => {
  const wanted = positions.filter(({ next, end }) => follow || next < end);
  const places = wanted.map(({ topic, partition, next }) => ({ topic, partition, offset: next }));
  const pages = await reader.fetch(places, follow ? waitMs : 0, PAGE_BYTES);
  const stuck =
    pages.every(({ next }, index) => next === places[index]?.offset) && pages.every((p) => p.records.length === 0);
  return pages.flatMap((page) => {
    const position = wanted.find(({ topic, partition }) => topic === page.topic && partition === page.partition);
    if (position === undefined) return [];
    const messages = page.records.filter(({ offset }) => follow || offset < position.end).map(toBusMessage);
    // Nothing of anything, although there is more: what lay there has been compacted away.
    position.next = stuck && page.end > page.next ? page.end : page.next;
    return messages;
  });
};

/**
 * Reads topics without a group. Without `follow` it ends at what was there when the reading began; with it, it waits for
 * a broker that is away. @throws UnknownTopic, MessageBusUnavailable when the bus closes while it follows
 */
export async function* tailTopics(
  settings: KafkaSettings,
  topics: readonly string[],
  options: TailOptions,
): AsyncGenerator<BusMessage, void, void> {
  const { follow, signal, closed } = options;
  const reader = new Reader(settings);
  const wake = AbortSignal.any([signal, closed]);
  const abandon = (): void => reader.close();
  wake.addEventListener('abort', abandon);
  try {
    const positions = await positionsIn(reader, topics, options);
    for (let failures = 0; !signal.aborted; ) {
      if (!follow && positions.every(({ next, end }) => next >= end)) return;
      let page: readonly BusMessage[] = [];
      try {
        page = await readPage(reader, positions, options, followWaitMs(settings));
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        if (closed.aborted) throw new MessageBusUnavailable('the message bus is closed');
        if (!follow || error instanceof UnknownTopic) throw error;
        failures += 1;
        settings.onProblem({ kind: 'consumer', group: '(tail)', error });
        await pause(backOff(RETRY_MS, MAX_RETRY_MS, failures, settings.random), wake);
      }
      for (const message of page) {
        yield message;
        if (signal.aborted) return;
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    wake.removeEventListener('abort', abandon);
    reader.close();
  }
}
