import type { DomainEvent, Projection, Recorded } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { MemberRole } from '@bindery/service-kit';
import { type OrganizationEvent, organizationAggregateName } from '../organizations/index.ts';

/** A membership as it is read. */
export interface MemberDocument {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: MemberRole | null;
  /** Role as it is filtered by: an index does not tell null from absent. */
  readonly roleFilter: MemberRole | 'guest';
  readonly joinedAt: string;
  /** Of the membership alone; its ETag. */
  readonly version: number;
}

/** Id of the document of a membership. Ids of users and organizations hold no dot. */
export const memberId = (organizationId: string, userId: string): string => `${organizationId}.${userId}`;

/** Members of all organizations. */
export const memberCollection: CollectionSpec = {
  name: 'identity.members',
  version: 1,
  indexes: [
    { name: 'by-organization', fields: ['organizationId', 'joinedAt'] },
    { name: 'by-role', fields: ['organizationId', 'roleFilter', 'joinedAt'] },
    { name: 'by-user', fields: ['userId'] },
  ],
};

/** One document per member, written by the command that changes the organization. */
export const membersProjection: Projection = {
  name: 'members',
  mode: 'inline',
  aggregates: [organizationAggregateName],
  handles: ['MemberJoined', 'MemberRoleChanged'] satisfies readonly OrganizationEvent['type'][],
  collections: [memberCollection],
  apply: async (event: Recorded<DomainEvent>, reader) => {
    const { type, data } = event as Recorded<Exclude<OrganizationEvent, { type: 'OrganizationCreated' }>>;
    const { organizationId, userId, role, version } = data;
    const id = memberId(organizationId, userId);
    const joinedAt =
      type === 'MemberJoined' ? data.joinedAt : (await reader.get<MemberDocument>(memberCollection, id))?.joinedAt;
    if (joinedAt === undefined) return [];
    const document: MemberDocument = {
      organizationId,
      userId,
      role,
      roleFilter: role ?? 'guest',
      joinedAt,
      version,
    };
    return [{ collection: memberCollection, write: { kind: 'put', id, revision: event.revision, document } }];
  },
};
