import { type AggregateDefinition, assertNever, type CommandMetadata, type Repository } from '@bindery/event-sourcing';
import { Problem } from '@bindery/service-kit';

/** Who stands behind an account elsewhere, and which account elsewhere a user has. */
export type ExternalIdentityEvent =
  /** First on the stream of the user: it has one account at an issuer, so that a reused email gives nobody's account away. */
  | {
      readonly type: 'ExternalIdentityChosen';
      readonly data: { readonly userId: string; readonly identity: string; readonly chosenAt: string };
    }
  /** Then on the stream of the account elsewhere: it leads to one user for good. */
  | {
      readonly type: 'ExternalIdentityLinked';
      readonly data: {
        readonly userId: string;
        /** Keyed digest of issuer and subject, and id of the stream. */
        readonly identity: string;
        /** Issuer and subject, sealed with the user's key. */
        readonly sealed: string;
        readonly linkedAt: string;
      };
    };

type Chosen = Extract<ExternalIdentityEvent, { type: 'ExternalIdentityChosen' }>['data'];
type Linked = Extract<ExternalIdentityEvent, { type: 'ExternalIdentityLinked' }>['data'];

export type ExternalIdentityCommand =
  | { readonly type: 'ChooseExternalIdentity'; readonly data: Chosen }
  | { readonly type: 'LinkExternalIdentity'; readonly data: Linked };

export interface ExternalIdentityState {
  readonly userId: string | undefined;
  readonly identity: string | undefined;
}

const taken = (): Problem =>
  new Problem('unauthenticated', 'sign_in.oidc', 'This account cannot be used to sign in here.', {
    details: { reason: 'other-identity' },
  });

/** Account elsewhere -> user, and user -> account elsewhere: uniqueness is being first on a stream (DESIGN section 4). */
export const externalIdentityAggregate: AggregateDefinition<
  ExternalIdentityState,
  ExternalIdentityCommand,
  ExternalIdentityEvent
> = {
  name: 'identity.external',
  decider: {
    initialState: () => ({ userId: undefined, identity: undefined }),
    decide: (command, state) => {
      const { userId, identity } = command.data;
      if (state.userId !== undefined && (state.userId !== userId || state.identity !== identity)) throw taken();
      if (state.userId !== undefined) return [];
      switch (command.type) {
        case 'ChooseExternalIdentity':
          return [{ type: 'ExternalIdentityChosen', data: command.data }];
        case 'LinkExternalIdentity':
          return [{ type: 'ExternalIdentityLinked', data: command.data }];
        default:
          return assertNever(command);
      }
    },
    evolve: (state, event) =>
      event.type === 'ExternalIdentityChosen' || event.type === 'ExternalIdentityLinked'
        ? { userId: event.data.userId, identity: event.data.identity }
        : state,
  },
};

/** Who is who at the issuers. */
export interface ExternalIdentities {
  /** The user behind an account elsewhere. */
  holder(identity: string): Promise<string | undefined>;
  /**
   * Links both, once and for all.
   * @param choice keyed digest of issuer and user
   * @throws Problem 401 when either is linked to another
   */
  link(linked: Linked, choice: string, metadata: CommandMetadata): Promise<void>;
}

export const createExternalIdentities = (
  repository: Repository<ExternalIdentityState, ExternalIdentityCommand, ExternalIdentityEvent>,
): ExternalIdentities => ({
  holder: async (identity) => (await repository.load(`s-${identity}`)).state.userId,
  async link(linked, choice, metadata) {
    const { userId, identity, linkedAt: chosenAt } = linked;
    const chosen = { type: 'ChooseExternalIdentity', data: { userId, identity, chosenAt } } as const;
    // Killed in between: the next sign-in chooses the same again, which is nothing, and goes on.
    await repository.handle(`u-${choice}`, chosen, metadata);
    await repository.handle(`s-${identity}`, { type: 'LinkExternalIdentity', data: linked }, metadata);
  },
});
