import { KAFKA_ERRORS } from './error-codes.ts';
import { type BatchHeader, firstNotBefore, readBatch } from './record-batch.ts';

/** As many batches of a producer are remembered to recognize a repetition; the protocol says five. */
const REMEMBERED = 5;
const MAX_SEQUENCE = 0x7fffffff;

interface ProducerState {
  epoch: number;
  readonly recent: { readonly first: number; readonly last: number; readonly baseOffset: bigint }[];
}

interface Aborted {
  readonly producerId: bigint;
  readonly first: bigint;
  readonly last: bigint;
}

const after = (sequence: number, by: number): number => (sequence + by) % (MAX_SEQUENCE + 1);

/** One partition: its batches, and what follows from them about producers and transactions. */
export class PartitionLog {
  readonly #batches: BatchHeader[] = [];
  readonly #producers = new Map<bigint, ProducerState>();
  /** First offset of each open transaction, by producer. */
  readonly #open = new Map<bigint, bigint>();
  readonly #aborted: Aborted[] = [];
  #first = 0n;
  #end = 0n;

  /** The least offset that can be read. */
  get first(): bigint {
    return this.#first;
  }

  /** The next offset. */
  get end(): bigint {
    return this.#end;
  }

  /** Up to here nothing belongs to an open transaction. */
  get stableEnd(): bigint {
    let least = this.#end;
    for (const first of this.#open.values()) if (first < least) least = first;
    return least;
  }

  /**
   * Whether a producer's batch may be appended.
   * @returns an error code, or the offset at which that very batch already stands, or undefined: append it
   */
  judge(batch: BatchHeader): { readonly error: number } | { readonly duplicateOf: bigint } | undefined {
    if (batch.producerId < 0n) return undefined;
    const state = this.#producers.get(batch.producerId);
    if (state === undefined) return undefined;
    if (batch.producerEpoch < state.epoch) return { error: KAFKA_ERRORS.INVALID_PRODUCER_EPOCH };
    const { baseSequence: first } = batch;
    if (batch.producerEpoch > state.epoch) {
      return first === 0 ? undefined : { error: KAFKA_ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER };
    }
    const last = after(first, batch.count - 1);
    const same = state.recent.find((known) => known.first === first && known.last === last);
    if (same !== undefined) return { duplicateOf: same.baseOffset };
    const expected = after(state.recent.at(-1)?.last ?? MAX_SEQUENCE, 1);
    return first === expected ? undefined : { error: KAFKA_ERRORS.OUT_OF_ORDER_SEQUENCE_NUMBER };
  }

  /** Appends a batch that has its offset already. */
  append(bytes: Buffer): void {
    const batch = readBatch(bytes);
    this.#batches.push(batch);
    this.#end = batch.lastOffset + 1n;
    if (batch.producerId < 0n) return;
    if (batch.control) this.#close(batch);
    else this.#follow(batch);
  }

  #follow(batch: BatchHeader): void {
    let state = this.#producers.get(batch.producerId);
    if (state === undefined || state.epoch !== batch.producerEpoch) {
      state = { epoch: batch.producerEpoch, recent: [] };
      this.#producers.set(batch.producerId, state);
    }
    const { baseSequence: first, baseOffset } = batch;
    state.recent.push({ first, last: after(first, batch.count - 1), baseOffset });
    if (state.recent.length > REMEMBERED) state.recent.shift();
    if (batch.transactional && !this.#open.has(batch.producerId)) this.#open.set(batch.producerId, baseOffset);
  }

  #close(marker: BatchHeader): void {
    const { producerId, producerEpoch } = marker;
    const first = this.#open.get(producerId);
    this.#open.delete(producerId);
    const committed = marker.bytes.readInt16BE(marker.bytes.length - 10) === 1;
    if (first !== undefined && !committed) this.#aborted.push({ producerId, first, last: marker.lastOffset });
    const state = this.#producers.get(producerId);
    // A marker with a newer epoch fences: what the older producer still sends is refused.
    if (state === undefined || state.epoch < producerEpoch) {
      this.#producers.set(producerId, { epoch: producerEpoch, recent: [] });
    }
  }

  /** Batches from the one that holds `offset` on, before `limit`, up to `maxBytes` (at least one when `atLeastOne`). */
  read(offset: bigint, limit: bigint, maxBytes: number, atLeastOne: boolean): readonly BatchHeader[] {
    const found: BatchHeader[] = [];
    let bytes = 0;
    for (let index = this.#indexOf(offset); index < this.#batches.length; index += 1) {
      const batch = this.#batches[index];
      if (batch === undefined || batch.baseOffset >= limit) break;
      bytes += batch.bytes.length;
      if (bytes > maxBytes && !(atLeastOne && found.length === 0)) break;
      found.push(batch);
    }
    return found;
  }

  /** What lies before an offset cannot be read any more; it stays in memory. */
  dropBefore(offset: bigint): void {
    if (offset > this.#first) this.#first = offset;
  }

  /** Aborted transactions that have records between the two offsets. */
  abortedBetween(from: bigint, to: bigint): readonly Aborted[] {
    return this.#aborted.filter(({ first, last }) => last >= from && first < to);
  }

  /** The first record not before a time (ms), or undefined. */
  find(timestamp: bigint): readonly [offset: bigint, time: bigint] | undefined {
    const batch = this.#batches.find(({ control, maxTimestamp }) => !control && maxTimestamp >= timestamp);
    return batch === undefined ? undefined : firstNotBefore(batch, timestamp);
  }

  /** The first batch that ends at or after the offset. */
  #indexOf(offset: bigint): number {
    let low = 0;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#batches[middle]?.lastOffset ?? 0n) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
