import { KAFKA_ERRORS } from './error-codes.ts';
import type { DoubleState, Place, TransactionState } from './state.ts';

export interface ProducerIdentity {
  readonly producerId: bigint;
  readonly epoch: number;
}

const MAX_EPOCH = 0x7ffe;

/** The coordinator of transactions: one producer per id may write, the one with the newest epoch. */
export class Transactions {
  readonly #state: DoubleState;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(state: DoubleState) {
    this.#state = state;
    for (const transaction of state.transactions.values()) this.#watch(transaction);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** A new identity; with a transactional id the epoch grows and what the one before left open is undone. */
  identify(id: string | null, timeoutMs: number): ProducerIdentity {
    if (id === null) return { producerId: this.#state.nextProducerId(), epoch: 0 };
    const known = this.#state.transactions.get(id);
    const renewed = known === undefined || known.epoch >= MAX_EPOCH;
    const producerId = renewed ? String(this.#state.nextProducerId()) : known.producerId;
    const next: TransactionState = { id, producerId, epoch: renewed ? 0 : known.epoch + 1, timeoutMs, places: [] };
    if (known === undefined || known.places.length === 0) this.#state.setTransaction(next);
    else this.#state.endTransaction(known, next, false, renewed ? known.epoch : next.epoch);
    this.#watch(next);
    return { producerId: BigInt(next.producerId), epoch: next.epoch };
  }

  /** The id's state when the identity is its newest. @returns an error code otherwise */
  check(id: string, { producerId, epoch }: ProducerIdentity): TransactionState | number {
    const known = this.#state.transactions.get(id);
    if (known === undefined || BigInt(known.producerId) !== producerId) return KAFKA_ERRORS.INVALID_PRODUCER_ID_MAPPING;
    return known.epoch === epoch ? known : KAFKA_ERRORS.INVALID_PRODUCER_EPOCH;
  }

  /** Adds partitions to the transaction, which opens it. */
  addPartitions(transaction: TransactionState, places: readonly Place[]): void {
    const fresh = places.filter((place) => !holds(transaction, place));
    const { ended: _ended, ...rest } = transaction;
    const next = { ...rest, places: [...transaction.places, ...fresh] };
    this.#state.setTransaction(next);
    if (transaction.places.length === 0) this.#watch(next);
  }

  /** @returns an error code */
  end(id: string, identity: ProducerIdentity, commit: boolean): number {
    const known = this.check(id, identity);
    if (typeof known === 'number') return known;
    const how = commit ? 'commit' : 'abort';
    if (known.places.length === 0) return known.ended === how ? KAFKA_ERRORS.NONE : KAFKA_ERRORS.INVALID_TXN_STATE;
    const next = { ...known, places: [], ended: how } as const;
    this.#state.endTransaction(known, next, commit, known.epoch);
    this.#watch(next);
    return KAFKA_ERRORS.NONE;
  }

  /** Undoes a transaction that stays open for too long, and fences its producer. */
  #watch({ id, places, timeoutMs }: TransactionState): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (places.length === 0) return;
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      const known = this.#state.transactions.get(id);
      if (known === undefined || known.places.length === 0) return;
      const next = { ...known, epoch: known.epoch + 1, places: [], ended: 'abort' } as const;
      this.#state.endTransaction(known, next, false, next.epoch);
    }, timeoutMs);
    this.#timers.set(id, timer.unref());
  }
}

/** Whether a partition is in the open transaction. */
export const holds = (transaction: TransactionState, { topic, partition }: Place): boolean =>
  transaction.places.some((place) => place.topic === topic && place.partition === partition);
