import type { Broker, Cluster } from 'kafkajs';

/** A member's place in its group. */
export interface Seat {
  readonly memberId: string;
  readonly generationId: number;
}

export interface JoinsParts {
  /** What must be over before the group is joined. */
  readonly prepare: () => Promise<void>;
  /** The coordinator is known and not asked yet; the seat is the one that is given up. */
  readonly found: (coordinator: Broker, seat: Seat | undefined) => Promise<void>;
}

/** Since the last step of a join, before the library counts as one that has left it at that. */
const GRACE_MS = 500;

/** The library has the requests, though its types do not. */
interface Joining {
  joinGroup(request: unknown): Promise<Seat>;
  syncGroup(request: unknown): Promise<unknown>;
}
const canJoin = (broker: Broker): broker is Broker & Joining => 'joinGroup' in broker && 'syncGroup' in broker;

/** The library joins again for errors of this type alone. */
class JoinOwed extends Error {
  readonly type = 'REBALANCE_IN_PROGRESS';

  constructor() {
    super('the group was not joined to the end');
    this.name = 'JoinOwed';
  }
}

/**
 * Watches the library join a group, and sees to it that a join that was begun is ended. The library (2.2.4) leaves a join
 * at that when the answer is one that it does not know there, such as that the coordinator is loading what it took over:
 * it goes on with heartbeats and fetches, and as the new coordinator knows the member from the former one, it is never
 * told to join again. But a member that has handed over its partitions works on none until it has joined.
 */
export class Joins {
  readonly #parts: JoinsParts;
  #seat: Seat | undefined;
  #owed = false;
  #underWay = 0;
  #lastStep = 0;

  constructor(parts: JoinsParts) {
    this.#parts = parts;
  }

  /** The name in the group, also of a join that was not ended. */
  get memberId(): string | undefined {
    return this.#seat?.memberId;
  }

  /** The group is joined. */
  done(): void {
    this.#owed = false;
  }

  /** Of the consumer whose cluster it is: the first step of each join is to look for the coordinator. */
  watch(cluster: Cluster): void {
    const find = cluster.findGroupCoordinator.bind(cluster);
    cluster.findGroupCoordinator = (group) =>
      this.#step(async () => {
        this.#owed = true;
        await this.#parts.prepare();
        const coordinator = await find(group);
        await this.#parts.found(coordinator, this.#seat);
        return this.#watched(coordinator);
      });
    const refresh = cluster.refreshMetadataIfNecessary.bind(cluster);
    // The first step of each fetch.
    cluster.refreshMetadataIfNecessary = async () => {
      await refresh();
      if (this.#owed && this.#underWay === 0 && performance.now() - this.#lastStep > GRACE_MS) throw new JoinOwed();
    };
  }

  #watched(coordinator: Broker): Broker {
    if (!canJoin(coordinator)) return coordinator;
    const join = (request: unknown) =>
      this.#step(async () => {
        const answer = await coordinator.joinGroup(request);
        this.#seat = { memberId: answer.memberId, generationId: answer.generationId };
        return answer;
      });
    const sync = (request: unknown) => this.#step(() => coordinator.syncGroup(request));
    return new Proxy(coordinator, {
      get: (target, name, receiver) => {
        if (name === 'joinGroup') return join;
        return name === 'syncGroup' ? sync : Reflect.get(target, name, receiver);
      },
    });
  }

  async #step<T>(step: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    try {
      return await step();
    } finally {
      this.#underWay -= 1;
      this.#lastStep = performance.now();
    }
  }
}
