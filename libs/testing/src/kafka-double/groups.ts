import { randomUUID } from 'node:crypto';
import { KAFKA_ERRORS } from './error-codes.ts';

export interface JoinRequest {
  readonly memberId: string;
  readonly clientId: string;
  readonly sessionMs: number;
  readonly rebalanceMs: number;
  readonly protocolType: string;
  readonly protocols: readonly { readonly name: string; readonly metadata: Buffer }[];
}

export interface JoinAnswer {
  readonly error: number;
  readonly generation: number;
  readonly protocol: string;
  readonly leader: string;
  readonly memberId: string;
  /** For the leader alone. */
  readonly members: readonly { readonly memberId: string; readonly metadata: Buffer }[];
}

export interface SyncAnswer {
  readonly error: number;
  readonly assignment: Buffer;
}

interface Member {
  readonly id: string;
  request: JoinRequest;
  assignment: Buffer;
  /** Silent until then, it is out. */
  deadline: number;
  joining?: (answer: JoinAnswer) => void;
  syncing?: (answer: SyncAnswer) => void;
}

/** How often deadlines are looked at, in ms. */
const SWEEP_MS = 20;
const EMPTY = Buffer.alloc(0);

const joinError = (error: number, memberId = ''): JoinAnswer => ({
  error,
  generation: -1,
  protocol: '',
  leader: '',
  memberId,
  members: [],
});

/** A consumer group by the classic protocol: all stop, join again, and the leader says who gets what. */
export class ConsumerGroup {
  readonly #members = new Map<string, Member>();
  /** Ids that were given out and have not joined yet, until when. */
  readonly #invited = new Map<string, number>();
  #state: 'empty' | 'joining' | 'syncing' | 'stable' = 'empty';
  #generation = 0;
  #leader = '';
  #protocol = '';
  #joinDeadline = 0;

  get memberCount(): number {
    return this.#members.size;
  }

  get generation(): number {
    return this.#generation;
  }

  join(request: JoinRequest): Promise<JoinAnswer> {
    const now = performance.now();
    if (request.memberId === '') {
      const id = `${request.clientId}-${randomUUID()}`;
      this.#invited.set(id, now + request.sessionMs);
      return Promise.resolve(joinError(KAFKA_ERRORS.MEMBER_ID_REQUIRED, id));
    }
    const known = this.#members.get(request.memberId);
    if (known === undefined && !this.#invited.delete(request.memberId)) {
      return Promise.resolve(joinError(KAFKA_ERRORS.UNKNOWN_MEMBER_ID, request.memberId));
    }
    const others = [...this.#members.values()].filter(({ id }) => id !== request.memberId);
    if (others.length > 0 && this.#commonProtocol([request, ...others.map((member) => member.request)]) === undefined) {
      return Promise.resolve(joinError(KAFKA_ERRORS.INCONSISTENT_GROUP_PROTOCOL, request.memberId));
    }
    const member: Member = known ?? { id: request.memberId, request, assignment: EMPTY, deadline: 0 };
    const changed = known === undefined || !sameProtocols(known.request, request);
    member.request = request;
    member.deadline = now + request.sessionMs;
    this.#members.set(member.id, member);
    if (this.#state === 'stable' && !changed && member.id !== this.#leader)
      return Promise.resolve(this.#joined(member));
    if (this.#state === 'syncing' && !changed) return Promise.resolve(this.#joined(member));
    member.joining?.(joinError(KAFKA_ERRORS.UNKNOWN_MEMBER_ID, member.id));
    return new Promise((resolve) => {
      member.joining = resolve;
      this.#rebalance();
      this.#completeJoin();
    });
  }

  sync(memberId: string, generation: number, assignments: ReadonlyMap<string, Buffer>): Promise<SyncAnswer> {
    const member = this.#members.get(memberId);
    const error = this.#check(member, generation);
    if (error !== KAFKA_ERRORS.NONE || member === undefined) return Promise.resolve({ error, assignment: EMPTY });
    member.deadline = performance.now() + member.request.sessionMs;
    if (this.#state === 'joining') {
      return Promise.resolve({ error: KAFKA_ERRORS.REBALANCE_IN_PROGRESS, assignment: EMPTY });
    }
    if (this.#state === 'stable') return Promise.resolve({ error: KAFKA_ERRORS.NONE, assignment: member.assignment });
    return new Promise((resolve) => {
      member.syncing = resolve;
      if (memberId === this.#leader) this.#assign(assignments);
    });
  }

  heartbeat(memberId: string, generation: number): number {
    const member = this.#members.get(memberId);
    const error = this.#check(member, generation);
    if (error !== KAFKA_ERRORS.NONE || member === undefined) return error;
    member.deadline = performance.now() + member.request.sessionMs;
    return this.#state === 'joining' ? KAFKA_ERRORS.REBALANCE_IN_PROGRESS : KAFKA_ERRORS.NONE;
  }

  leave(memberId: string): number {
    if (!this.#members.has(memberId)) return KAFKA_ERRORS.UNKNOWN_MEMBER_ID;
    this.#remove(memberId);
    return KAFKA_ERRORS.NONE;
  }

  /** Whether a member may commit offsets. Without a member (generation below 0) only while the group is empty. */
  mayCommit(memberId: string, generation: number): number {
    if (generation < 0 && this.#members.size === 0) return KAFKA_ERRORS.NONE;
    const member = this.#members.get(memberId);
    const error = this.#check(member, generation);
    if (error !== KAFKA_ERRORS.NONE || member === undefined) return error;
    if (this.#state === 'syncing') return KAFKA_ERRORS.REBALANCE_IN_PROGRESS;
    member.deadline = performance.now() + member.request.sessionMs;
    return KAFKA_ERRORS.NONE;
  }

  /** Puts out who has been silent for too long, and ends a rebalance that takes too long. */
  sweep(): void {
    const now = performance.now();
    for (const [id, deadline] of this.#invited) if (deadline < now) this.#invited.delete(id);
    // Who waits for the others to join is not silent.
    const silent = [...this.#members.values()].filter(
      ({ deadline, joining }) => deadline < now && joining === undefined,
    );
    for (const { id } of silent) this.#remove(id);
    if (this.#state === 'joining' && now >= this.#joinDeadline) {
      for (const { id, joining } of [...this.#members.values()]) if (joining === undefined) this.#members.delete(id);
      this.#completeJoin();
    }
  }

  #check(member: Member | undefined, generation: number): number {
    if (member === undefined) return KAFKA_ERRORS.UNKNOWN_MEMBER_ID;
    return generation === this.#generation ? KAFKA_ERRORS.NONE : KAFKA_ERRORS.ILLEGAL_GENERATION;
  }

  #remove(memberId: string): void {
    const member = this.#members.get(memberId);
    this.#members.delete(memberId);
    member?.joining?.(joinError(KAFKA_ERRORS.UNKNOWN_MEMBER_ID, memberId));
    member?.syncing?.({ error: KAFKA_ERRORS.UNKNOWN_MEMBER_ID, assignment: EMPTY });
    this.#rebalance();
    this.#completeJoin();
  }

  #rebalance(): void {
    if (this.#state === 'joining') return;
    this.#state = 'joining';
    const longest = Math.max(0, ...[...this.#members.values()].map(({ request }) => request.rebalanceMs));
    this.#joinDeadline = performance.now() + longest;
    for (const member of this.#members.values()) {
      member.syncing?.({ error: KAFKA_ERRORS.REBALANCE_IN_PROGRESS, assignment: EMPTY });
      delete member.syncing;
    }
  }

  /** Answers everybody once everybody has joined. */
  #completeJoin(): void {
    const members = [...this.#members.values()];
    if (this.#state !== 'joining' || members.some(({ joining }) => joining === undefined)) return;
    this.#generation += 1;
    if (members.length === 0) {
      this.#state = 'empty';
      return;
    }
    this.#state = 'syncing';
    if (!this.#members.has(this.#leader)) this.#leader = members[0]?.id ?? '';
    this.#protocol = this.#commonProtocol(members.map(({ request }) => request)) ?? '';
    for (const member of members) {
      const { joining } = member;
      delete member.joining;
      member.assignment = EMPTY;
      member.deadline = performance.now() + member.request.sessionMs;
      joining?.(this.#joined(member));
    }
  }

  #joined({ id: memberId }: Member): JoinAnswer {
    const [generation, protocol, leader] = [this.#generation, this.#protocol, this.#leader];
    const members = [...this.#members.values()].map(({ id, request }) => ({
      memberId: id,
      metadata: request.protocols.find(({ name }) => name === protocol)?.metadata ?? EMPTY,
    }));
    return { error: 0, generation, protocol, leader, memberId, members: memberId === leader ? members : [] };
  }

  #assign(assignments: ReadonlyMap<string, Buffer>): void {
    this.#state = 'stable';
    for (const member of this.#members.values()) {
      member.assignment = assignments.get(member.id) ?? EMPTY;
      member.syncing?.({ error: KAFKA_ERRORS.NONE, assignment: member.assignment });
      delete member.syncing;
    }
    // Who has not asked yet is answered at once when it does.
  }

  /** The first protocol of the first member that all know. */
  #commonProtocol([first, ...others]: readonly JoinRequest[]): string | undefined {
    return first?.protocols.find(({ name }) =>
      others.every(
        ({ protocols, protocolType }) =>
          protocolType === first.protocolType && protocols.some((protocol) => protocol.name === name),
      ),
    )?.name;
  }
}

const sameProtocols = (one: JoinRequest, other: JoinRequest): boolean =>
  one.protocols.length === other.protocols.length &&
  one.protocols.every(({ name, metadata }, index) => {
    const against = other.protocols[index];
    return against?.name === name && against.metadata.equals(metadata);
  });

/** All groups; they live as long as the process, their committed offsets longer. */
export class Groups {
  readonly #groups = new Map<string, ConsumerGroup>();
  readonly #sweeper: NodeJS.Timeout;

  constructor() {
    this.#sweeper = setInterval(() => {
      for (const group of this.#groups.values()) group.sweep();
    }, SWEEP_MS).unref();
  }

  get(name: string): ConsumerGroup {
    const known = this.#groups.get(name) ?? new ConsumerGroup();
    this.#groups.set(name, known);
    return known;
  }

  /** How many members each group has. */
  memberCount(name: string): number {
    return this.#groups.get(name)?.memberCount ?? 0;
  }

  close(): void {
    clearInterval(this.#sweeper);
  }
}
