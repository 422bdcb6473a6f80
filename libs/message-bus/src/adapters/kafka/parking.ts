import { partitionOf } from '../../partitioner.ts';
import { deadLetterTopic, MessageBusUnavailable } from '../../port.ts';
import { deadLetterOf, keyOf, originalOf, type StoredRecord } from './messages.ts';
import type { ParkedKey, ParkedKeys } from './parked-keys.ts';
import type { Reader } from './reader.ts';
import type { Sender } from './sender.ts';

const MAX_REASON = 2000;

export interface ToPark {
  readonly stored: StoredRecord;
  readonly reason: string;
  readonly attempts: number;
}

/** A dead letter with what it holds. */
export interface Letter {
  readonly original: StoredRecord;
  /** Its own place in the dead-letter topic. */
  readonly offset: bigint;
}

/**
 * Parks messages: first the dead letters, then the table of parked keys, both acknowledged by all replicas; only then may
 * the caller move its position. Died in between, the message comes again: before the table it is handled again, after it
 * the table says that it is parked already.
 */
export class Parking {
  readonly keys: ParkedKeys;
  readonly #deadLetters: string;
  readonly #deadPartitions: number;
  readonly #sender: Sender;
  readonly #reader: Reader;

  constructor(group: string, deadPartitions: number, keys: ParkedKeys, sender: Sender, reader: Reader) {
    this.keys = keys;
    this.#deadLetters = deadLetterTopic(group);
    this.#deadPartitions = deadPartitions;
    this.#sender = sender;
    this.#reader = reader;
  }

  isParked({ topic, record }: StoredRecord): boolean {
    return this.keys.get(topic, keyOf(record)) !== undefined;
  }

  /** Parks messages of one partition, in order. @throws MessageBusUnavailable */
  async park(messages: readonly ToPark[]): Promise<void> {
    const fresh = messages.filter(({ stored }) => {
      const known = this.keys.get(stored.topic, keyOf(stored.record));
      return known === undefined || stored.offset > BigInt(known.last);
    });
    if (fresh.length === 0) return;
    const letters = fresh.map(({ stored, reason, attempts }) =>
      deadLetterOf(stored, { partition: this.#partitionOf(keyOf(stored.record)), reason, attempts }),
    );
    const offsets = await this.#sender.send(this.#deadLetters, letters);
    const states = new Map<string, ParkedKey>();
    for (const [index, { stored, reason }] of fresh.entries()) {
      const { topic, partition, offset } = stored;
      const key = keyOf(stored.record);
      const known = states.get(key) ?? this.keys.get(topic, key);
      states.set(key, {
        topic,
        key,
        partition,
        reason: known?.reason ?? reason.slice(0, MAX_REASON),
        deadPartition: known?.deadPartition ?? this.#partitionOf(key),
        from: known?.from ?? String(offsets[index] ?? 0n),
        last: String(offset),
        messages: (known?.messages ?? 0) + 1,
      });
    }
    await this.keys.put([...states.values()]);
  }

  /** The dead letters of a key that wait, oldest first. @throws MessageBusUnavailable */
  async *lettersOf(state: ParkedKey): AsyncGenerator<Letter, void, void> {
    const { topic, key, deadPartition, last } = state;
    let offset = BigInt(state.from);
    let left = state.messages;
    let seen = -1n;
    while (left > 0) {
      const [page] = await this.#reader.fetch([{ topic: this.#deadLetters, partition: deadPartition, offset }], 100);
      if (page === undefined || (page.next === offset && page.end <= offset)) {
        throw new MessageBusUnavailable(`dead letters of a key of ${topic} are missing in ${this.#deadLetters}`);
      }
      for (const letter of page.records) {
        const original = originalOf(letter);
        if (original === undefined || original.topic !== topic || keyOf(original.record) !== key) continue;
        // A letter that was written twice, by a member that died in between, counts once.
        if (original.offset <= seen || original.offset > BigInt(last)) continue;
        seen = original.offset;
        left -= 1;
        yield { original, offset: letter.offset };
        if (left === 0) return;
      }
      offset = page.next === offset ? page.end : page.next;
    }
  }

  #partitionOf(key: string): number {
    return partitionOf(key, this.#deadPartitions);
  }
}
