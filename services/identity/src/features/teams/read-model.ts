import {
  type DomainEvent,
  documentPerStream,
  ignoreUnknown,
  type Projection,
  type ProjectionWrite,
  type Recorded,
} from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { searchable } from '../../shared/text.ts';
import type { TeamEvent, TeamRole } from './events.ts';
import { teamAggregateName } from './state.ts';

/** A team as it is read. */
export interface TeamDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly title: string;
  /** Title for sorting and searching. */
  readonly sortTitle: string;
  readonly members: number;
  readonly createdAt: string;
}

/** Teams by id. */
export const teamCollection: CollectionSpec = {
  name: 'identity.teams',
  version: 1,
  indexes: [{ name: 'by-organization', fields: ['organizationId', 'sortTitle'] }],
};

/** Teams without their members, who have a read model of their own. */
export const teamsProjection: Projection = documentPerStream<TeamEvent, TeamDocument>({
  name: 'teams',
  aggregate: teamAggregateName,
  collection: teamCollection,
  // All events, so that the revision of the document is that of the stream: its ETag.
  handles: [
    'TeamCreated',
    'TeamRenamed',
    'TeamMembersAdded',
    'TeamMemberRolesChanged',
    'TeamMembersRemoved',
    'TeamDeleted',
  ],
  evolve: (document, event) => {
    if (event.type === 'TeamCreated') {
      const { organizationId, teamId: id, title, createdAt } = event.data;
      return { id, organizationId, title, sortTitle: searchable(title), members: 0, createdAt };
    }
    if (document === undefined) return undefined;
    switch (event.type) {
      case 'TeamRenamed':
        return { ...document, title: event.data.title, sortTitle: searchable(event.data.title) };
      case 'TeamMembersAdded':
        return { ...document, members: document.members + event.data.members.length };
      case 'TeamMembersRemoved':
        return { ...document, members: document.members - event.data.userIds.length };
      case 'TeamDeleted':
        return null;
      case 'TeamMemberRolesChanged':
        return document;
      default:
        return ignoreUnknown(document, event);
    }
  },
});

/** Somebody in a team as it is read. */
export interface TeamMemberDocument {
  readonly teamId: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly role: TeamRole;
  readonly addedAt: string;
}

/** Id of the document of somebody in a team. Ids of teams and users hold no dot. */
export const teamMemberId = (teamId: string, userId: string): string => `${teamId}.${userId}`;

/** Members of all teams. */
export const teamMemberCollection: CollectionSpec = {
  name: 'identity.team-members',
  version: 1,
  indexes: [
    { name: 'by-team', fields: ['teamId', 'addedAt'] },
    { name: 'by-user', fields: ['userId'] },
    { name: 'by-member', fields: ['organizationId', 'userId'] },
  ],
};

/** One document per member of a team. A deleted team has no members: its last event but one removes them. */
export const teamMembersProjection: Projection = {
  name: 'team-members',
  mode: 'inline',
  aggregates: [teamAggregateName],
  handles: ['TeamMembersAdded', 'TeamMemberRolesChanged', 'TeamMembersRemoved'] satisfies readonly TeamEvent['type'][],
  collections: [teamMemberCollection],
  apply: async (event: Recorded<DomainEvent>, reader) => {
    const { type, data, revision } = event as Recorded<TeamEvent>;
    const writes: ProjectionWrite[] = [];
    if (type === 'TeamMembersRemoved')
      for (const userId of data.userIds) {
        const id = teamMemberId(data.teamId, userId);
        writes.push({ collection: teamMemberCollection, write: { kind: 'remove', id, revision } });
      }
    if (type === 'TeamMembersAdded' || type === 'TeamMemberRolesChanged')
      for (const { userId, role } of data.members) {
        const { teamId, organizationId } = data;
        const id = teamMemberId(teamId, userId);
        const addedAt =
          type === 'TeamMembersAdded'
            ? data.addedAt
            : (await reader.get<TeamMemberDocument>(teamMemberCollection, id))?.addedAt;
        if (addedAt === undefined) continue;
        const document: TeamMemberDocument = { teamId, organizationId, userId, role, addedAt };
        writes.push({ collection: teamMemberCollection, write: { kind: 'put', id, revision, document } });
      }
    return writes;
  },
};
