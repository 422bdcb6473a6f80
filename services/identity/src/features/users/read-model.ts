import type { DomainEvent, Projection, Recorded } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { erasedDisplayName, type PersonalData, type PersonalDataSealer } from '../../shared/personal-data.ts';
import { searchable } from '../../shared/text.ts';
import type { UserEvent } from './events.ts';
import { userAggregateName } from './state.ts';

/** A user as it is read. In clear: read models are rebuilt from the events, and without the key they show a tombstone. */
export interface UserDocument {
  readonly id: string;
  readonly displayName: string;
  readonly email?: string;
  readonly photoURL?: string;
  readonly registeredAt: string;
  /** Display name for sorting. */
  readonly sortName: string;
  /** Display name and email for searching. */
  readonly search: string;
}

/** Users by id. */
export const userCollection: CollectionSpec = {
  name: 'identity.users',
  version: 1,
  indexes: [{ name: 'by-registration', fields: ['registeredAt'] }],
};

const documentOf = (id: string, registeredAt: string, personal: PersonalData): UserDocument => {
  const displayName = personal.displayName ?? erasedDisplayName;
  return {
    id,
    displayName,
    ...(personal.email === undefined ? {} : { email: personal.email }),
    ...(personal.photoURL === undefined ? {} : { photoURL: personal.photoURL }),
    registeredAt,
    sortName: searchable(displayName),
    search: searchable(`${displayName}\n${personal.email ?? ''}`),
  };
};

/** Users, as their events say; somebody whose key is gone is a tombstone. */
export const usersProjection = (sealer: PersonalDataSealer): Projection => ({
  name: 'users',
  mode: 'inline',
  aggregates: [userAggregateName],
  handles: ['UserRegistered', 'UserProfileChanged', 'UserErased'] satisfies readonly UserEvent['type'][],
  collections: [userCollection],
  apply: async (event: Recorded<DomainEvent>, reader) => {
    const { type, data } = event as Recorded<UserEvent>;
    const { userId } = data;
    const opened = type === 'UserErased' ? undefined : await sealer.open(userId, event.id, data.personal);
    const before = type === 'UserRegistered' ? undefined : await reader.get<UserDocument>(userCollection, userId);
    const registeredAt = type === 'UserRegistered' ? data.registeredAt : before?.registeredAt;
    if (registeredAt === undefined) return [];
    const document = documentOf(userId, registeredAt, opened === undefined ? {} : { ...before, ...opened });
    return [{ collection: userCollection, write: { kind: 'put', id: userId, revision: event.revision, document } }];
  },
});
