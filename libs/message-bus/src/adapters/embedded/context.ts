import type { ChangeFeed, GroupCommit, Write } from '@bindery/event-store/sqlite-kit';
import type { Groups } from './groups.ts';
import type { Log } from './log.ts';
import type { Parking } from './parking.ts';

/** Something an operator should know; never carries payloads. */
export type BusProblem =
  | {
      /** A member could not read, write or renew; it goes on trying. */
      readonly kind: 'consumer';
      readonly group: string;
      readonly error: unknown;
    }
  | {
      /** This process could not show that it lives; when that lasts, others take its partitions. */
      readonly kind: 'heartbeat';
      readonly error: unknown;
    }
  | {
      /** Messages older than the limit are kept because a group has not handled them. */
      readonly kind: 'retention-held-back';
      readonly topic: string;
      readonly partition: number;
      readonly messages: number;
    }
  | {
      /** The log was larger than its limit, so messages went that a group has not handled. */
      readonly kind: 'retention-lost';
      readonly topic: string;
      readonly partition: number;
      readonly messages: number;
    }
  | { readonly kind: 'retention-failed'; readonly error: unknown };

/** What the parts of the embedded bus share. */
export interface BusContext {
  readonly log: Log;
  readonly groups: Groups;
  readonly parking: Parking;
  readonly commits: GroupCommit;
  readonly changes: ChangeFeed;
  /** Identity of this process's opening of the bus. */
  readonly instance: string;
  readonly now: () => number;
  /** 0 to 1, for jitter. */
  readonly random: () => number;
  readonly leaseMs: number;
  readonly stopTimeoutMs: number;
  readonly onProblem: (problem: BusProblem) => void;
}

/** Keys of the change feed. */
export const topicKey = (topicId: number): string => `topic/${topicId}`;
export const partitionKey = (topicId: number, partition: number): string => `partition/${topicId}/${partition}`;
export const groupKey = (groupId: number): string => `group/${groupId}`;
export const releaseKey = (groupId: number, topicId: number, partition: number): string =>
  `release/${groupId}/${topicId}/${partition}`;

/** A small write without a check of its own. */
export const plainWrite = <T>(write: () => T, check: () => void = () => undefined): Write<void, T> => ({
  bytes: 100,
  check,
  write,
});
