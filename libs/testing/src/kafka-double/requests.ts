import type { KafkaRequest } from './faults.ts';
import type { Groups } from './groups.ts';
import type { DoubleState } from './state.ts';
import type { Transactions } from './transactions.ts';
import type { WireReader, WireWriter } from './wire.ts';

/** What a request is answered with; undefined: with nothing (a producer that wants no acknowledgement). */
export type Answer = WireWriter | undefined;

export interface Broker {
  readonly state: DoubleState;
  readonly groups: Groups;
  readonly transactions: Transactions;
  /** Where clients are told to connect. */
  readonly advertisedPort: number;
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
