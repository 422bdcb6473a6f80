import type {
  DomainEvent,
  LiveCollection,
  Projection,
  ProjectionReader,
  ProjectionWrite,
  Recorded,
} from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { MemberRole } from '@bindery/service-kit';
import { erasedDisplayName, type PersonalDataSealer } from '../../shared/personal-data.ts';
import { searchable } from '../../shared/text.ts';
import { type MemberEvent, organizationAggregateName } from '../organizations/index.ts';
import { type UserEvent, userAggregate } from '../users/index.ts';
import { memberEventTypes, memberId } from './read-model.ts';

/** A member with what orders and filters a list of members. */
export interface DirectoryDocument {
  readonly organizationId: string;
  readonly userId: string;
  readonly roleFilter: MemberRole | 'guest';
  readonly joinedAt: string;
  /** Display name as it is sorted by. */
  readonly sortName: string;
  /** Name and email as they are searched. */
  readonly search: string;
}

/** The members of organizations by name. */
export const directoryCollection: CollectionSpec = {
  name: 'identity.member-directory',
  version: 1,
  indexes: [
    { name: 'by-name', fields: ['organizationId', 'sortName'] },
    { name: 'by-role-and-name', fields: ['organizationId', 'roleFilter', 'sortName'] },
    { name: 'by-joining', fields: ['organizationId', 'joinedAt'] },
    { name: 'by-role-and-joining', fields: ['organizationId', 'roleFilter', 'joinedAt'] },
  ],
};

/** What is needed of a user when it joins an organization, and where it is listed when its name changes. */
interface ProfileDocument {
  readonly displayName: string;
  readonly email?: string;
  readonly organizations: readonly string[];
}

const profileCollection: CollectionSpec = { name: 'identity.member-profiles', version: 1, indexes: [] };

/** Name of the projection, for those who wait for it. */
export const directoryName = 'member-directory';

const nobody: ProfileDocument = { displayName: erasedDisplayName, organizations: [] };

const named = ({ displayName, email }: ProfileDocument) => ({
  sortName: searchable(displayName),
  search: searchable(`${displayName}\n${email ?? ''}`),
});

type Put = (collection: CollectionSpec, id: string, document: object | null) => ProjectionWrite;

const ofUser = async (event: UserProfile, sealer: PersonalDataSealer, reader: ProjectionReader, put: Put) => {
  const { userId, personal } = event.data;
  const opened = await sealer.open(userId, event.id, personal);
  const before = (await reader.get<ProfileDocument>(profileCollection, userId)) ?? nobody;
  const { organizations } = before;
  const profile: ProfileDocument =
    opened === undefined
      ? { ...nobody, organizations }
      : {
          displayName: opened.displayName ?? before.displayName,
          ...((opened.email ?? before.email) === undefined ? {} : { email: opened.email ?? before.email ?? '' }),
          organizations,
        };
  const writes = [put(profileCollection, userId, profile)];
  for (const organizationId of organizations) {
    const id = memberId(organizationId, userId);
    const row = await reader.get<DirectoryDocument>(directoryCollection, id);
    if (row !== undefined) writes.push(put(directoryCollection, id, { ...row, ...named(profile) }));
  }
  return writes;
};

const ofMember = async (event: MemberEvent, reader: ProjectionReader, put: Put) => {
  if (event.type === 'MemberSsoChanged') return [];
  const { organizationId, userId, role } = event.data;
  const id = memberId(organizationId, userId);
  if (event.type === 'MemberRoleChanged') {
    const row = await reader.get<DirectoryDocument>(directoryCollection, id);
    return row === undefined ? [] : [put(directoryCollection, id, { ...row, roleFilter: role ?? 'guest' })];
  }
  const before = (await reader.get<ProfileDocument>(profileCollection, userId)) ?? nobody;
  const others = before.organizations.filter((other) => other !== organizationId);
  if (event.type === 'MemberRemoved')
    return [put(profileCollection, userId, { ...before, organizations: others }), put(directoryCollection, id, null)];
  const { joinedAt } = event.data;
  const row: DirectoryDocument = { organizationId, userId, roleFilter: role ?? 'guest', joinedAt, ...named(before) };
  return [
    put(profileCollection, userId, { ...before, organizations: [...others, organizationId] }),
    put(directoryCollection, id, row),
  ];
};

type UserErased = Recorded<Extract<UserEvent, { type: 'UserErased' }>>;
type UserProfile = Recorded<Extract<UserEvent, { type: 'UserRegistered' | 'UserProfileChanged' }>>;

/**
 * Members by name, for searching and sorting. Names belong to users and change without the organization, so the two are
 * joined here, after the fact: readers wait until it has handled what was there when they asked.
 */
export const directoryProjection = (sealer: PersonalDataSealer): Projection => ({
  name: directoryName,
  mode: 'async',
  aggregates: [organizationAggregateName, userAggregate.name],
  handles: [...memberEventTypes, 'UserRegistered', 'UserProfileChanged', 'UserErased'],
  collections: [directoryCollection, profileCollection],
  apply: async (event: Recorded<DomainEvent>, reader) => {
    const revision = event.position;
    const put: Put = (collection, id, document) => ({
      collection,
      write: document === null ? { kind: 'remove', id, revision } : { kind: 'put', id, revision, document },
    });
    // Its memberships ended before.
    if (event.type === 'UserErased') return [put(profileCollection, (event as UserErased).data.userId, null)];
    return event.type === 'UserRegistered' || event.type === 'UserProfileChanged'
      ? ofUser(event as UserProfile, sealer, reader, put)
      : ofMember(event as Recorded<MemberEvent>, reader, put);
  },
});

export const openDirectory = (live: LiveCollection) => live<DirectoryDocument>(directoryCollection);
export type LiveDirectory = () => ReturnType<typeof openDirectory>;
