import type { Consumer } from 'kafkajs';
import type { KafkaSettings } from './options.ts';
import type { Place, Reader } from './reader.ts';
import type { Topics } from './topics.ts';
import { within } from './within.ts';

export interface Start extends Place {
  /** Partitions of the topic. */
  readonly partitions: number;
}

interface StartsParts {
  readonly group: string;
  readonly topics: readonly string[];
  readonly from: 'beginning' | 'end';
  readonly settings: KafkaSettings;
  readonly catalogue: Topics;
  readonly reader: Reader;
}

/** Where a member starts in the partitions that it was given. */
export class Starts {
  readonly #parts: StartsParts;
  readonly #consumer: Pick<Consumer, 'commitOffsets'>;

  constructor(parts: StartsParts, consumer: Pick<Consumer, 'commitOffsets'>) {
    this.#parts = parts;
    this.#consumer = consumer;
  }

  /**
   * The stored positions; a new group's are stored before its first message, so that "the end" means the end as it was
   * when the group began.
   */
  async of(assignment: Readonly<Record<string, readonly number[]>>): Promise<readonly Start[]> {
    const { group, from, reader, catalogue, settings } = this.#parts;
    const starts: Start[] = [];
    const fresh: Place[] = [];
    for (const [topic, partitions] of Object.entries(assignment)) {
      if (partitions.length === 0) continue;
      const [count, committed, first] = await Promise.all([
        catalogue.partitions(topic),
        reader.committed(group, topic),
        reader.offsets(topic, 'first'),
      ]);
      const next = partitions.some((each) => !committed.has(each)) ? await reader.offsets(topic, 'next') : undefined;
      for (const partition of partitions) {
        const stored = committed.get(partition);
        const earliest = first.get(partition) ?? 0n;
        const initial = from === 'beginning' ? earliest : (next?.get(partition) ?? earliest);
        if (stored !== undefined && stored < earliest) {
          const messages = Number(earliest - stored);
          settings.onProblem({ kind: 'retention-lost', topic, partition, messages });
        }
        const offset = stored === undefined ? initial : stored < earliest ? earliest : stored;
        starts.push({ topic, partition, offset, partitions: count });
        if (stored === undefined) fresh.push({ topic, partition, offset });
      }
    }
    if (fresh.length > 0) {
      const positions = fresh.map((place) => ({ ...place, offset: String(place.offset) }));
      await within(settings.requestTimeoutMs, 'storing positions', this.#consumer.commitOffsets(positions));
    }
    return starts;
  }
}
