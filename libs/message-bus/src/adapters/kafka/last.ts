import type { BusMessage } from '../../port.ts';
import { type StoredRecord, toBusMessage } from './messages.ts';
import type { Reader } from './reader.ts';

/** The last `count` records of a partition, or fewer when there are no more. */
const lastOf = async (
  reader: Reader,
  topic: string,
  partition: number,
  range: { readonly first: bigint; readonly end: bigint },
  count: number,
): Promise<readonly StoredRecord[]> => {
  const { first, end } = range;
  // Transactions leave records of their own in the log; so more is read, and more again where that was not enough.
  for (let back = BigInt(count) * 2n + 16n; ; back *= 4n) {
    const start = end - back > first ? end - back : first;
    const found: StoredRecord[] = [];
    for (let offset = start; offset < end; ) {
      const [page] = await reader.fetch([{ topic, partition, offset }], 0);
      if (page === undefined) break;
      found.push(...page.records.filter((record) => record.offset < end));
      if (found.length > 4 * count) found.splice(0, found.length - count);
      offset = page.next > offset ? page.next : page.end > offset ? page.end : end;
    }
    if (found.length >= count || start === first) return found.slice(-count);
  }
};

/**
 * The last records of a topic by the time of publishing, newest last; within a partition by offset.
 * @throws UnknownTopic, MessageBusUnavailable
 */
export const lastMessages = async (reader: Reader, topic: string, count: number): Promise<readonly BusMessage[]> => {
  await reader.partitionsOf(topic);
  if (count === 0) return [];
  const [first, next] = await Promise.all([reader.offsets(topic, 'first'), reader.ends(topic)]);
  const timed: { readonly time: number; readonly stored: StoredRecord }[] = [];
  for (const [partition, end] of next) {
    const records = await lastOf(reader, topic, partition, { first: first.get(partition) ?? 0n, end }, count);
    let time = 0;
    for (const stored of records) {
      time = Math.max(time, Number(stored.record.timestamp));
      timed.push({ time, stored });
    }
  }
  return timed
    .sort((a, b) => a.time - b.time)
    .slice(-count)
    .map(({ stored }) => toBusMessage(stored));
};
