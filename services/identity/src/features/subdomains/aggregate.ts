import { type AggregateDefinition, assertNever, ignoreUnknown } from '@bindery/event-sourcing';
import { conflict } from '@bindery/service-kit';

/** What happened to a name. A claim is one attempt of an organization to have it; the newest one counts. */
export type SubdomainEvent =
  | {
      readonly type: 'SubdomainClaimed';
      readonly data: {
        readonly subdomain: string;
        readonly organizationId: string;
        readonly claimId: string;
        readonly claimedAt: string;
      };
    }
  | {
      readonly type: 'SubdomainReleased';
      readonly data: {
        readonly subdomain: string;
        readonly organizationId: string;
        readonly claimId: string;
        readonly releasedAt: string;
      };
    };

type Data<T extends SubdomainEvent['type']> = Extract<SubdomainEvent, { type: T }>['data'];

export type SubdomainCommand =
  | {
      readonly type: 'ClaimSubdomain';
      /** `abandoned`: a claim that no hostname rests on, seen before; it may be taken over. */
      readonly data: Data<'SubdomainClaimed'> & { readonly abandoned?: string };
    }
  | { readonly type: 'ReleaseSubdomain'; readonly data: Data<'SubdomainReleased'> };

/** Who has the name. */
export type SubdomainState =
  | { readonly status: 'free' }
  | {
      readonly status: 'claimed';
      readonly organizationId: string;
      readonly claimId: string;
      readonly claimedAt: string;
    };

const decide = (command: SubdomainCommand, state: SubdomainState): readonly SubdomainEvent[] => {
  switch (command.type) {
    case 'ClaimSubdomain': {
      const { abandoned, ...data } = command.data;
      if (state.status === 'claimed' && state.claimId === data.claimId) return [];
      if (state.status === 'claimed' && state.organizationId !== data.organizationId && state.claimId !== abandoned)
        throw conflict('organization.hostname_taken', 'body.hostname: another organization has it');
      return [{ type: 'SubdomainClaimed', data }];
    }
    case 'ReleaseSubdomain':
      // Only the claim it names: the organization may have claimed the name anew meanwhile.
      return state.status === 'claimed' && state.claimId === command.data.claimId
        ? [{ type: 'SubdomainReleased', data: command.data }]
        : [];
    default:
      return assertNever(command);
  }
};

const evolve = (state: SubdomainState, event: SubdomainEvent): SubdomainState => {
  switch (event.type) {
    case 'SubdomainClaimed': {
      const { organizationId, claimId, claimedAt } = event.data;
      return { status: 'claimed', organizationId, claimId, claimedAt };
    }
    case 'SubdomainReleased':
      return { status: 'free' };
    default:
      return ignoreUnknown(state, event);
  }
};

/** One stream per name: being first on it is what makes a hostname unique (DESIGN section 4). */
export const subdomainAggregate: AggregateDefinition<SubdomainState, SubdomainCommand, SubdomainEvent> = {
  name: 'identity.subdomain',
  decider: { initialState: () => ({ status: 'free' }), decide, evolve },
};
