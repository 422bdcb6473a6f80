/** Requests that a fault can hit, by their names in the protocol. */
export type KafkaRequest =
  | 'Produce'
  | 'Fetch'
  | 'ListOffsets'
  | 'Metadata'
  | 'OffsetCommit'
  | 'OffsetFetch'
  | 'FindCoordinator'
  | 'JoinGroup'
  | 'Heartbeat'
  | 'LeaveGroup'
  | 'SyncGroup'
  | 'ApiVersions'
  | 'CreateTopics'
  | 'DeleteTopics'
  | 'DeleteRecords'
  | 'InitProducerId'
  | 'AddPartitionsToTxn'
  | 'EndTxn';

/**
 * - `error`: refused with `code`, nothing is done. 45: out of order sequence; 6: another broker leads; 16: the
 *   coordinator has moved; 47: a newer producer has the id; 14, 15, 19, 51: not now.
 * - `lost-answer`: done, and the connection is cut before the answer.
 * - `silent-after-commit`: done, never answered; the connection stays open, and nothing after it on that connection is
 *   answered, as from a frozen broker. `silent`: the same, and not done.
 * - `slow`: done and answered `delayMs` later.
 * - `disconnect`: the connection is cut, nothing is done.
 */
export type KafkaFault = {
  /** Which requests. */
  readonly on: readonly KafkaRequest[];
  /** How many; until `clearFaults` by default. */
  readonly times?: number;
  /** Only at this broker, numbered from 1; at any by default. */
  readonly node?: number;
} & (
  | { readonly kind: 'lost-answer' | 'silent-after-commit' | 'silent' | 'disconnect' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'error'; readonly code: number }
);

/** The faults that are due at one broker. */
export interface FaultsOfNode {
  take(request: KafkaRequest): KafkaFault | undefined;
}

/** The faults that are due, oldest first. */
export class KafkaFaults {
  #active: { readonly fault: KafkaFault; left: number }[] = [];

  add(fault: KafkaFault): void {
    this.#active.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  clear(): void {
    this.#active = [];
  }

  /** How many are due still. */
  get count(): number {
    return this.#active.length;
  }

  /** What a broker asks. */
  of(node: number): FaultsOfNode {
    return { take: (request) => this.take(request, node) };
  }

  /** The fault that hits this request at a broker, if any; it is used up by it. */
  take(request: KafkaRequest, node: number): KafkaFault | undefined {
    const found = this.#active.find(
      ({ fault }) => fault.on.includes(request) && (fault.node === undefined || fault.node === node),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#active = this.#active.filter((other) => other !== found);
    return found.fault;
  }
}
