import type { KafkaRequest } from './faults.ts';
import type { Groups } from './groups.ts';
import type { DoubleState, Place } from './state.ts';
import type { Transactions } from './transactions.ts';
import type { WireReader, WireWriter } from './wire.ts';

/** What a request is answered with; undefined: with nothing (a producer that wants no acknowledgement). */
export type Answer = WireWriter | undefined;

export interface Broker {
  readonly state: DoubleState;
  readonly groups: Groups;
  readonly transactions: Transactions;
  /** Which node of the cluster the connection was made to. */
  readonly node: number;
  /** The nodes that are up, and where clients are told to connect; the first one coordinates groups and transactions. */
  readonly nodes: readonly DoubleNode[];
  /** The node that takes what is written to a partition and gives what is read. */
  readonly leaderOf: (place: Place) => number;
}

/** A broker of the cluster. */
export interface DoubleNode {
  readonly id: number;
  readonly port: number;
}

export interface RequestContext extends Broker {
  readonly clientId: string;
  readonly version: number;
  /** An error code to answer with instead of doing anything. */
  readonly forced: number | undefined;
  /** Fires when the connection ends or the double stops. */
  readonly signal: AbortSignal;
}

export type Handle = (request: WireReader, context: RequestContext) => Answer | Promise<Answer>;

export interface Api {
  readonly name: KafkaRequest;
  readonly key: number;
  /** The versions that are understood, both inclusive. */
  readonly versions: readonly [least: number, most: number];
  readonly handle: Handle;
}
