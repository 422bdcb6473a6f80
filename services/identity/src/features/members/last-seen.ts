import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import { memberId } from './read-model.ts';

export interface LastSeenDocument {
  readonly organizationId: string;
  readonly userId: string;
  /** Id of the membership, as a field to purge by. */
  readonly member: string;
  readonly lastSeenAt: string;
}

/** When members were last seen; state that no event feeds, by the id of the membership. */
export const lastSeenCollection: CollectionSpec = {
  name: 'identity.last-seen',
  version: 2,
  indexes: [
    { name: 'by-organization', fields: ['organizationId', 'lastSeenAt'] },
    { name: 'by-member', fields: ['member'] },
  ],
};

/** When members say that they are there (operation updateOrganizationMemberLastSeenAt). */
export interface LastSeen {
  note(organizationId: string, userId: string, now: Date): Promise<void>;
  of(organizationId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Forgets somebody who left. */
  forget(organizationId: string, userId: string): Promise<void>;
  /** For lists in the order of it. */
  readonly collection: Pick<Collection<LastSeenDocument>, 'query' | 'count'>;
}

const most = 1000;

export const createLastSeen = async (store: ReadStore): Promise<LastSeen> => {
  const collection: Collection<LastSeenDocument> = await store.collection<LastSeenDocument>(lastSeenCollection);
  return {
    collection,
    async note(organizationId, userId, now) {
      const member = memberId(organizationId, userId);
      const lastSeenAt = now.toISOString();
      const stored = await collection.get(member);
      if (stored !== undefined && stored.document.lastSeenAt >= lastSeenAt) return;
      // Another request of the same member may be first; it notes the same moment.
      await collection.compareAndPut(member, stored?.revision ?? -1, { organizationId, userId, member, lastSeenAt });
    },
    async of(organizationId, userIds) {
      const seen = new Map<string, string>();
      for (let start = 0; start < userIds.length; start += most) {
        const ids = userIds.slice(start, start + most).map((userId) => memberId(organizationId, userId));
        for (const { document } of (await collection.getMany(ids)).values())
          seen.set(document.userId, document.lastSeenAt);
      }
      return seen;
    },
    async forget(organizationId, userId) {
      await collection.purge({ member: memberId(organizationId, userId) }, 1);
    },
  };
};
