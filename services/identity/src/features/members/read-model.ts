import type { DomainEvent, Projection, ProjectionReader, ProjectionWrite, Recorded } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { MemberRole } from '@bindery/service-kit';
import { type MemberEvent, organizationAggregateName } from '../organizations/index.ts';

/** A membership as it is read. */
export interface MemberDocument {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: MemberRole | null;
  /** Role as it is filtered by: an index does not tell null from absent. */
  readonly roleFilter: MemberRole | 'guest';
  readonly joinedAt: string;
  /** Signs in through SSO. */
  readonly sso: boolean;
  /** Of the membership alone; its ETag. */
  readonly version: number;
}

/** Id of the document of a membership. Ids of users and organizations hold no dot. */
export const memberId = (organizationId: string, userId: string): string => `${organizationId}.${userId}`;

/** Members of all organizations. */
export const memberCollection: CollectionSpec = {
  name: 'identity.members',
  version: 2,
  indexes: [
    { name: 'by-organization', fields: ['organizationId', 'joinedAt'] },
    { name: 'by-role', fields: ['organizationId', 'roleFilter', 'joinedAt'] },
    { name: 'by-user', fields: ['userId'] },
  ],
};

/** What memberships of organizations are read from. */
export const memberEventTypes = [
  'MemberJoined',
  'MemberRoleChanged',
  'MemberSsoChanged',
  'MemberRemoved',
] as const satisfies readonly MemberEvent['type'][];

const documentAfter = async (
  event: MemberEvent,
  reader: ProjectionReader,
): Promise<MemberDocument | null | undefined> => {
  const { organizationId, userId, version } = event.data;
  if (event.type === 'MemberRemoved') return null;
  if (event.type === 'MemberJoined') {
    const { role, joinedAt, sso = false } = event.data;
    return { organizationId, userId, role, roleFilter: role ?? 'guest', joinedAt, sso, version };
  }
  const before = await reader.get<MemberDocument>(memberCollection, memberId(organizationId, userId));
  if (before === undefined) return undefined;
  if (event.type === 'MemberSsoChanged') return { ...before, sso: event.data.sso, version };
  const { role } = event.data;
  return { ...before, role, roleFilter: role ?? 'guest', version };
};

/** One document per member, written by the command that changes the organization. */
export const membersProjection: Projection = {
  name: 'members',
  mode: 'inline',
  aggregates: [organizationAggregateName],
  handles: memberEventTypes,
  collections: [memberCollection],
  apply: async (event: Recorded<DomainEvent>, reader): Promise<readonly ProjectionWrite[]> => {
    const member = event as Recorded<MemberEvent>;
    const document = await documentAfter(member, reader);
    if (document === undefined) return [];
    const id = memberId(member.data.organizationId, member.data.userId);
    const { revision } = event;
    const write = document === null ? { kind: 'remove', id, revision } : { kind: 'put', id, revision, document };
    return [{ collection: memberCollection, write } as ProjectionWrite];
  },
};
