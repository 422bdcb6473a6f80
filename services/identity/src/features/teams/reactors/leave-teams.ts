import {
  type DomainEvent,
  type Reactor,
  type Recorded,
  type Repository,
  reactorMetadata,
} from '@bindery/event-sourcing';
import type { Clock } from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../../shared/ports.ts';
import type { LiveMembers } from '../../members/index.ts';
import { organizationAggregateName } from '../../organizations/index.ts';
import type { TeamCommand } from '../decider.ts';
import type { TeamEvent } from '../events.ts';
import { type LiveTeams, placesInOrganization } from '../queries.ts';
import { membersAmong } from '../routes/people.ts';
import type { TeamState } from '../state.ts';

export interface LeaveTeamsDeps {
  readonly repository: Repository<TeamState, TeamCommand, TeamEvent>;
  readonly live: LiveTeams;
  readonly members: LiveMembers;
  readonly forget: ForgetPrincipal;
  readonly clock: Clock;
}

/** What is needed of the event that somebody left an organization. */
interface MemberRemoved {
  readonly type: string;
  readonly data: { readonly organizationId: string; readonly userId: string };
}

/**
 * Takes somebody who left an organization out of its teams. Until it has, the teams give nothing: a principal has only
 * teams of organizations that it is a member of. Who is a member again by then loses the teams of before all the same,
 * but not those that it came into since.
 * @param deps asked for at the first event: repositories exist only once the runtime does, which is given the reactor
 */
export const leaveTeamsReactor = (deps: () => LeaveTeamsDeps): Reactor => ({
  name: 'leave-teams',
  aggregates: [organizationAggregateName],
  handles: ['MemberRemoved'],
  react: async (event: Recorded<DomainEvent>) => {
    const { repository, live, members, forget, clock } = deps();
    const { organizationId, userId } = (event as Recorded<MemberRemoved>).data;
    const again = (await membersAmong({ members }, organizationId, [userId])).has(userId);
    const places = (await placesInOrganization(live, organizationId, [userId])).get(userId) ?? [];
    for (const { teamId, addedAt } of places) {
      if (again && addedAt > event.metadata.time) continue;
      // Deleted meanwhile: nobody is in it any more.
      if ((await repository.load(teamId)).state.status !== 'active') continue;
      const data = { organizationId, teamId, add: [], remove: [userId], at: clock.now().toISOString() };
      const metadata = reactorMetadata(event, 'leave-teams', clock, teamId);
      await repository.handle(teamId, { type: 'ChangeTeamMembers', data }, metadata);
    }
    if (places.length > 0) await forget(userId);
  },
});
