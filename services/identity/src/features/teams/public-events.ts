import type { EventDataOf, teamEvents } from '@bindery/contracts';
import { assertNever, type PublicEvent } from '@bindery/event-sourcing';
import type { TeamEvent } from './events.ts';

type Catalogue = typeof teamEvents;

const published = <K extends keyof Catalogue>(
  type: Catalogue[K]['type'],
  data: EventDataOf<Catalogue[K]>,
): readonly PublicEvent[] => [{ type, subject: data.teamId, data: { ...data } }];

/** What others learn of an event of a team: all of it, there is nothing private in it. */
export const teamPublicEvents = (event: TeamEvent): readonly PublicEvent[] => {
  switch (event.type) {
    case 'TeamCreated':
      return published<'teamCreated'>('bindery.identity.team.created.v1', event.data);
    case 'TeamRenamed':
      return published<'teamRenamed'>('bindery.identity.team.renamed.v1', event.data);
    case 'TeamMembersAdded': {
      const data = { ...event.data, members: [...event.data.members] };
      return published<'teamMembersAdded'>('bindery.identity.team.members-added.v1', data);
    }
    case 'TeamMemberRolesChanged': {
      const data = { ...event.data, members: [...event.data.members] };
      return published<'teamMemberRolesChanged'>('bindery.identity.team.member-roles-changed.v1', data);
    }
    case 'TeamMembersRemoved': {
      const data = { ...event.data, userIds: [...event.data.userIds] };
      return published<'teamMembersRemoved'>('bindery.identity.team.members-removed.v1', data);
    }
    case 'TeamDeleted':
      return published<'teamDeleted'>('bindery.identity.team.deleted.v1', event.data);
    default:
      return assertNever(event);
  }
};
