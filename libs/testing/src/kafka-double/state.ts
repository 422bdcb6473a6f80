import { Journal } from './journal.ts';
import { PartitionLog } from './partition-log.ts';
import { controlBatch, placed } from './record-batch.ts';

export interface Topic {
  readonly name: string;
  readonly partitions: readonly PartitionLog[];
  /** Of one batch. */
  readonly maxBytes: number;
}

export interface Place {
  readonly topic: string;
  readonly partition: number;
}

/** What the transaction coordinator knows of a transactional id. */
export interface TransactionState {
  readonly id: string;
  /** A bigint as text. */
  readonly producerId: string;
  readonly epoch: number;
  readonly timeoutMs: number;
  /** Partitions of the open transaction; empty: none is open. */
  readonly places: readonly Place[];
  /** How the last one ended, so that a repeated end is recognized. */
  readonly ended?: 'commit' | 'abort';
}

export interface StoredOffset extends Place {
  /** A bigint as text. */
  readonly offset: string;
  readonly metadata: string | null;
}

type Entry =
  | { readonly kind: 'topic'; readonly name: string; readonly partitions: number; readonly maxBytes: number }
  | { readonly kind: 'topic-gone'; readonly name: string }
  | { readonly kind: 'records-gone'; readonly place: Place; readonly before: string }
  | { readonly kind: 'offsets'; readonly group: string; readonly offsets: readonly StoredOffset[] }
  | { readonly kind: 'producer-id'; readonly last: string }
  | { readonly kind: 'transaction'; readonly transaction: TransactionState }
  /** The markers in all its partitions are one entry, so that a kill leaves none of them or all. */
  | {
      readonly kind: 'end';
      readonly transaction: TransactionState;
      readonly markerEpoch: number;
      readonly commit: boolean;
      readonly time: number;
      readonly places: readonly Place[];
    };

const BATCH = 1;
const JSON_ENTRY = 0;

const key = (topic: string, partition: number): string => `${topic}/${partition}`;

/** All that outlives the process. Every change is an entry of the journal first, and is applied as a replay would. */
export class DoubleState {
  readonly topics = new Map<string, Topic>();
  readonly transactions = new Map<string, TransactionState>();
  readonly #offsets = new Map<string, Map<string, StoredOffset>>();
  readonly #journal: Journal;
  readonly #maxBytes: number;
  readonly #waiting = new Set<() => void>();
  #bytes = 0;
  #lastProducerId = 0n;

  /** @param maxBytes of all batches together; the double keeps them in memory */
  constructor(directory: string, maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#journal = new Journal(directory, (entry) => this.#replay(entry));
  }

  close(): void {
    this.#journal.close();
    this.#wake();
  }

  partition({ topic, partition }: Place): PartitionLog | undefined {
    return this.topics.get(topic)?.partitions[partition];
  }

  createTopic(name: string, partitions: number, maxBytes: number): void {
    this.#record({ kind: 'topic', name, partitions, maxBytes });
  }

  deleteTopic(name: string): void {
    this.#record({ kind: 'topic-gone', name });
  }

  /** Records of a partition before an offset are gone. */
  deleteRecords(place: Place, before: bigint): void {
    this.#record({ kind: 'records-gone', place, before: String(before) });
  }

  /** Whether there is room for so many bytes more. */
  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.#maxBytes;
  }

  /** @returns the offset of its first record */
  appendBatch(place: Place, bytes: Buffer): bigint {
    const log = this.partition(place);
    if (log === undefined) throw new Error(`no such partition: ${key(place.topic, place.partition)}`);
    const offset = log.end;
    const batch = placed(bytes, offset);
    const name = Buffer.from(place.topic);
    const head = Buffer.alloc(7);
    head.writeUInt8(BATCH, 0);
    head.writeInt32BE(place.partition, 1);
    head.writeUInt16BE(name.length, 5);
    this.#journal.append(Buffer.concat([head, name, batch]));
    this.#take(log, batch);
    this.#wake();
    return offset;
  }

  nextProducerId(): bigint {
    this.#record({ kind: 'producer-id', last: String(this.#lastProducerId + 1n) });
    return this.#lastProducerId;
  }

  setTransaction(transaction: TransactionState): void {
    this.#record({ kind: 'transaction', transaction });
  }

  /** Writes the marker of the open transaction into each of its partitions. @param next what the coordinator knows then */
  endTransaction(current: TransactionState, next: TransactionState, commit: boolean, markerEpoch: number): void {
    const { places } = current;
    this.#record({ kind: 'end', transaction: next, markerEpoch, commit, time: Date.now(), places });
  }

  commitOffsets(group: string, offsets: readonly StoredOffset[]): void {
    if (offsets.length > 0) this.#record({ kind: 'offsets', group, offsets });
  }

  committed(group: string, place: Place): StoredOffset | undefined {
    return this.#offsets.get(group)?.get(key(place.topic, place.partition));
  }

  allCommitted(group: string): readonly StoredOffset[] {
    return [...(this.#offsets.get(group)?.values() ?? [])];
  }

  /** Resolves when something was appended, or after `ms`, or when the signal fires. */
  untilAppended(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }

  #take(log: PartitionLog, batch: Buffer): void {
    log.append(batch);
    this.#bytes += batch.length;
  }

  #record(entry: Entry): void {
    this.#journal.append(Buffer.concat([Buffer.from([JSON_ENTRY]), Buffer.from(JSON.stringify(entry))]));
    this.#apply(entry);
    if (entry.kind === 'end') this.#wake();
  }

  #replay(bytes: Buffer): void {
    if (bytes.readUInt8(0) === JSON_ENTRY) {
      this.#apply(JSON.parse(bytes.toString('utf8', 1)));
      return;
    }
    const nameEnd = 7 + bytes.readUInt16BE(5);
    const log = this.partition({ topic: bytes.toString('utf8', 7, nameEnd), partition: bytes.readInt32BE(1) });
    if (log !== undefined) this.#take(log, bytes.subarray(nameEnd));
  }

  #apply(entry: Entry): void {
    switch (entry.kind) {
      case 'topic': {
        const partitions = Array.from({ length: entry.partitions }, () => new PartitionLog());
        this.topics.set(entry.name, { name: entry.name, partitions, maxBytes: entry.maxBytes });
        break;
      }
      case 'topic-gone':
        this.topics.delete(entry.name);
        break;
      case 'records-gone':
        this.partition(entry.place)?.dropBefore(BigInt(entry.before));
        break;
      case 'producer-id':
        this.#lastProducerId = BigInt(entry.last);
        break;
      case 'transaction':
        this.transactions.set(entry.transaction.id, entry.transaction);
        break;
      case 'end': {
        const { transaction, markerEpoch, commit, time, places } = entry;
        this.transactions.set(transaction.id, transaction);
        const marker = controlBatch(BigInt(transaction.producerId), markerEpoch, commit, time);
        for (const place of places) {
          const log = this.partition(place);
          if (log !== undefined) this.#take(log, placed(marker, log.end));
        }
        break;
      }
      case 'offsets': {
        const offsets = this.#offsets.get(entry.group) ?? new Map<string, StoredOffset>();
        this.#offsets.set(entry.group, offsets);
        for (const each of entry.offsets) offsets.set(key(each.topic, each.partition), each);
      }
    }
  }
}
