import type { KafkaSettings } from './options.ts';
import type { Place, Reader } from './reader.ts';

const SAMPLE_BYTES = 64 * 1024;

/**
 * How far a group is behind in topics, from what the broker knows: the answer is the same whichever member is asked, and
 * also while none works.
 */
export const lagOf = async ({
  group,
  topics,
  reader,
  settings,
}: {
  readonly group: string;
  readonly topics: readonly string[];
  readonly reader: Reader;
  readonly settings: Pick<KafkaSettings, 'now'>;
}): Promise<{ readonly messages: number; readonly oldestMs: number }> => {
  let messages = 0n;
  const behind: Place[] = [];
  for (const topic of topics) {
    const [committed, first, next] = await Promise.all([
      reader.committed(group, topic),
      reader.offsets(topic, 'first'),
      reader.offsets(topic, 'next'),
    ]);
    for (const [partition, end] of next) {
      const earliest = first.get(partition) ?? 0n;
      const stored = committed.get(partition) ?? end;
      const offset = stored < earliest ? earliest : stored;
      if (offset >= end) continue;
      messages += end - offset;
      behind.push({ topic, partition, offset });
    }
  }
  const pages = await reader.fetch(behind, 0, SAMPLE_BYTES * Math.max(1, behind.length));
  const times = pages.flatMap(({ records }) => records.slice(0, 1).map(({ record }) => Number(record.timestamp)));
  const oldestMs = times.length === 0 ? 0 : Math.max(0, settings.now() - Math.min(...times));
  return { messages: Number(messages), oldestMs };
};
