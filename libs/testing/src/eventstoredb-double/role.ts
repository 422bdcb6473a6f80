import { type Metadata, status } from '@grpc/grpc-js';
import { Faults, failure } from './faults.ts';

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Member of a cluster as gossip describes it. */
export interface Member extends Endpoint {
  readonly state: 'leader' | 'follower';
  readonly alive: boolean;
}

/** Whether a double is the leader of its cluster. A follower refuses what asks for the leader, and says who that is. */
export class Role {
  readonly #self: () => Endpoint;
  /** Undefined: this one. Null: nobody, while one is elected. */
  #leader: Endpoint | null | undefined;

  constructor(self: () => Endpoint) {
    this.#self = self;
  }

  /** @param leader whom this one follows; null for nobody (an election), undefined to lead */
  follow(leader: Endpoint | null | undefined): void {
    this.#leader = leader;
  }

  get leader(): Endpoint {
    return this.#leader ?? this.#self();
  }

  /** This member and the one that it follows. */
  get members(): readonly Member[] {
    const self: Member = { ...this.#self(), alive: true, state: this.#leader === undefined ? 'leader' : 'follower' };
    return this.#leader ? [self, { ...this.#leader, alive: true, state: 'leader' }] : [self];
  }

  refusal(metadata: Metadata): Error | undefined {
    if (this.#leader === undefined || metadata.get('requires-leader')[0] !== 'true') return undefined;
    if (this.#leader === null) return failure(status.UNKNOWN, 'No leader info available in response');
    return Faults.refusal('not-leader', this.#leader);
  }
}
