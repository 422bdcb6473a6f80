import { setTimeout as delay } from 'node:timers/promises';
import { partitionOf } from '../../partitioner.ts';
import {
  type LetterPage,
  MessageBusUnavailable,
  type ParkedKey,
  type ParkedPage,
  type RunningConsumer,
} from '../../port.ts';
import { assignedTo, slot } from './assign.ts';
import { type BusContext, groupKey, plainWrite, releaseKey } from './context.ts';
import type { Assignment, Member } from './groups.ts';
import { isGone } from './instance.ts';
import type { Topic } from './log.ts';
import { type Handling, PartitionRunner } from './partition-runner.ts';

/** How long an aborted handler may still take before its partition is given up. */
const ABORT_GRACE_MS = 1000;

export interface Membership {
  readonly id: string;
  readonly groupId: number;
  readonly topics: readonly Topic[];
  readonly from: 'beginning' | 'end';
}

/**
 * One member of a group. All members compute the same assignment from the list of living members; a partition changes
 * hands only after its holder has finished the message in hand and stored the offset, or when its lease has run out.
 */
export class GroupConsumer implements RunningConsumer {
  readonly #context: BusContext;
  readonly #membership: Membership;
  readonly #handling: Handling;
  readonly #stop = new AbortController();
  readonly #runners = new Map<string, PartitionRunner>();
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #beats = new Map<string, { readonly beat: number; readonly since: number }>();
  readonly #supervision: Promise<void>;
  #stopping: Promise<void> | undefined;

  constructor(context: BusContext, membership: Membership, handling: Handling) {
    this.#context = context;
    this.#membership = membership;
    this.#handling = handling;
    this.#supervision = this.#supervise();
  }

  get #topicIds(): readonly number[] {
    return this.#membership.topics.map(({ id }) => id);
  }

  async lag(): Promise<{ readonly messages: number; readonly oldestMs: number }> {
    const { messages, oldest } = this.#context.groups.lag(this.#membership.groupId, this.#topicIds);
    return { messages, oldestMs: oldest === undefined ? 0 : Math.max(0, this.#context.now() - oldest) };
  }

  async parked(page: ParkedPage = {}): Promise<readonly ParkedKey[]> {
    return this.#context.parking.list(this.#membership.groupId, this.#membership.topics, page);
  }

  async letters(topic: string, key: string, page: Parameters<RunningConsumer['letters']>[2]): Promise<LetterPage> {
    const { log, parking } = this.#context;
    return parking.letters(this.#membership.groupId, log.topic(topic), key, page.limit, page.after);
  }

  async release(topicName: string, key: string, signal?: AbortSignal): Promise<void> {
    const { commits, parking, log } = this.#context;
    const { groupId } = this.#membership;
    const topic = log.topic(topicName);
    await commits.submit(plainWrite(() => parking.startRelease(groupId, topic.id, key)));
    await this.#released(topic, key, signal);
  }

  async discard(topicName: string, key: string, offset: string, signal?: AbortSignal): Promise<boolean> {
    const { commits, parking, log } = this.#context;
    const { groupId } = this.#membership;
    const topic = log.topic(topicName);
    const discarded = await commits.submit(plainWrite(() => parking.discard(groupId, topic.id, key, offset)));
    if (discarded) await this.#released(topic, key, signal);
    return discarded;
  }

  async forget(topicName: string, key: string, signal?: AbortSignal): Promise<boolean> {
    const { commits, parking, log } = this.#context;
    const { groupId } = this.#membership;
    const topic = log.topic(topicName);
    const forgotten = await commits.submit(plainWrite(() => parking.forget(groupId, topic.id, key)));
    if (forgotten) await this.#released(topic, key, signal);
    return forgotten;
  }

  /** Waits for the end of a release that was just asked for. */
  async #released(topic: Topic, key: string, signal: AbortSignal | undefined): Promise<void> {
    const { changes, parking } = this.#context;
    const { groupId } = this.#membership;
    const changeKey = releaseKey(groupId, topic.id, partitionOf(key, topic.partitions));
    changes.notify(changeKey);
    const over = signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, signal]);
    while (signal?.aborted !== true) {
      if (this.#stop.signal.aborted)
        throw new MessageBusUnavailable('the consumer has stopped; the release goes on elsewhere');
      const mark = changes.mark(changeKey);
      if (!parking.isReleasing(groupId, topic.id, key)) return;
      await changes.changedSince(mark, over);
    }
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#end();
    return this.#stopping;
  }

  async #supervise(): Promise<void> {
    const { changes, leaseMs } = this.#context;
    while (!this.#stop.signal.aborted) {
      const mark = changes.mark(groupKey(this.#membership.groupId));
      try {
        await this.#rebalance();
      } catch (error) {
        this.#context.onProblem({ kind: 'consumer', group: this.#handling.group, error });
      }
      await changes.changedSince(mark, this.#stop.signal, leaseMs / 3);
    }
  }

  async #rebalance(): Promise<void> {
    const { groups } = this.#context;
    const { id, groupId, topics } = this.#membership;
    let members = groups.members(groupId);
    if (!members.some((member) => member.id === id)) {
      await this.#rejoin(); // another process has taken us for dead
      members = groups.members(groupId);
    }
    const living = members.filter((member) => this.#isAlive(member));
    for (const known of this.#beats.keys()) {
      if (!members.some(({ instance }) => instance === known)) this.#beats.delete(known);
    }
    await this.#bury(members.filter((member) => !living.includes(member)));
    const wanted = assignedTo(id, living, topics);
    const free: Assignment[] = [];
    for (const seen of groups.assignments(groupId, this.#topicIds)) {
      const name = slot(seen.topicId, seen.partition);
      const runner = this.#runners.get(name);
      if (runner) {
        if (seen.owner !== id || seen.epoch !== runner.lease.epoch) runner.abort();
        else if (!wanted.has(name)) runner.stop();
      } else if (wanted.has(name) && (seen.owner === id || !living.some((member) => member.id === seen.owner))) {
        free.push(seen);
      }
    }
    if (free.length > 0 && !this.#stop.signal.aborted) await this.#takeAll(free);
  }

  async #takeAll(free: readonly Assignment[]): Promise<void> {
    const { commits, groups } = this.#context;
    const { id, groupId, topics } = this.#membership;
    const taken = await commits.submit(plainWrite(() => free.map((seen) => groups.take(groupId, seen, id))));
    for (const start of taken) {
      const topic = topics.find((candidate) => candidate.id === start?.lease.topicId);
      if (!start || !topic) continue;
      const name = slot(start.lease.topicId, start.lease.partition);
      const runner = new PartitionRunner(this.#context, topic, this.#handling, start);
      if (this.#stop.signal.aborted) runner.stop();
      this.#runners.set(name, runner);
      this.#leaving.set(name, this.#leaveAfter(name, runner));
    }
  }

  /** Gives a partition back once its runner has ended. */
  async #leaveAfter(name: string, runner: PartitionRunner): Promise<void> {
    const { changes, commits, groups } = this.#context;
    await runner.done;
    try {
      await commits.submit(plainWrite(() => groups.leave(runner.lease)));
    } catch (error) {
      this.#context.onProblem({ kind: 'consumer', group: this.#handling.group, error }); // the lease runs out instead
    }
    this.#runners.delete(name);
    this.#leaving.delete(name);
    changes.notify(groupKey(this.#membership.groupId));
  }

  async #rejoin(): Promise<void> {
    const { commits, groups, instance } = this.#context;
    const { id, from } = this.#membership;
    const member = { id, instance, topicIds: this.#topicIds };
    await commits.submit(plainWrite(() => groups.join(this.#handling.group, member, from)));
  }

  /** A process lives as long as its beat changes within the lease, measured by our own clock (PITFALLS 40). */
  #isAlive({ instance, beat }: Member): boolean {
    if (instance === this.#context.instance) return true;
    if (isGone(instance)) return false;
    const now = performance.now();
    const seen = this.#beats.get(instance);
    if (seen?.beat === beat) return now - seen.since < this.#context.leaseMs;
    this.#beats.set(instance, { beat, since: now });
    return true;
  }

  async #bury(dead: readonly Member[]): Promise<void> {
    if (dead.length === 0) return;
    const { changes, commits, groups } = this.#context;
    await commits.submit(
      plainWrite(() => {
        for (const { instance, beat } of dead) groups.removeInstance(instance, beat);
      }),
    );
    changes.notify(groupKey(this.#membership.groupId));
  }

  async #end(): Promise<void> {
    const { changes, commits, groups, stopTimeoutMs } = this.#context;
    const { id, groupId } = this.#membership;
    this.#stop.abort();
    for (const runner of this.#runners.values()) runner.stop();
    const drained = this.#supervision.then(() => Promise.all(this.#leaving.values()));
    if (!(await within(drained, stopTimeoutMs))) {
      for (const runner of this.#runners.values()) runner.abort();
      await within(drained, ABORT_GRACE_MS);
      const leases = [...this.#runners.values()].map(({ lease }) => lease);
      await commits.submit(
        plainWrite(() => {
          for (const lease of leases) groups.leave(lease);
        }),
      );
    }
    await commits.submit(plainWrite(() => groups.removeMember(groupId, id)));
    changes.notify(groupKey(groupId));
  }
}

/** Whether a promise settles in time. */
const within = async (promise: Promise<unknown>, ms: number): Promise<boolean> => {
  const timer = new AbortController();
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timer.abort();
  }
};
