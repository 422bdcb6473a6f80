import {
  type DomainEvent,
  type Reactor,
  type Recorded,
  type Repository,
  reactorMetadata,
} from '@bindery/event-sourcing';
import type { Clock } from '@bindery/service-kit';
import {
  type OrganizationEvent,
  type OrganizationRepository,
  organizationAggregateName,
} from '../organizations/index.ts';
import type { UserCommand, UserEvent, UserState } from '../users/index.ts';

export interface KeepOutDeps {
  readonly users: Pick<Repository<UserState, UserCommand, UserEvent>, 'load'>;
  readonly organizations: Pick<OrganizationRepository, 'handle'>;
  readonly clock: Clock;
}

/**
 * Takes who was erased out of organizations that a request under way made, or let it into, after the erasure had looked
 * for its memberships. Who is erased only after this has looked, the erasure itself finds to be a member.
 * @param deps asked for at the first event: repositories exist only once the runtime does, which is given the reactor
 */
export const keepErasedOutReactor = (deps: () => KeepOutDeps): Reactor => ({
  name: 'keep-erased-out',
  aggregates: [organizationAggregateName],
  handles: ['MemberJoined'],
  react: async (event: Recorded<DomainEvent>) => {
    const { users, organizations, clock } = deps();
    const { organizationId, userId } = (event as Recorded<Extract<OrganizationEvent, { type: 'MemberJoined' }>>).data;
    if ((await users.load(userId)).state.status !== 'erased') return;
    const data = { organizationId, userId, at: clock.now().toISOString() };
    const metadata = reactorMetadata(event, 'keep-erased-out', clock);
    await organizations.handle(organizationId, { type: 'RemoveErasedMember', data }, { ...metadata, organizationId });
  },
});
