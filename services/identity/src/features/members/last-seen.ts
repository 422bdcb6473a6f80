import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import { memberId } from './read-model.ts';

interface LastSeenDocument {
  readonly lastSeenAt: string;
}

/** When members were last seen; state that no event feeds, by the id of the membership. */
export const lastSeenCollection: CollectionSpec = { name: 'identity.last-seen', version: 1, indexes: [] };

/** When members say that they are there (operation updateOrganizationMemberLastSeenAt). */
export interface LastSeen {
  note(organizationId: string, userId: string, now: Date): Promise<void>;
  of(organizationId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

const most = 1000;

export const createLastSeen = async (store: ReadStore): Promise<LastSeen> => {
  const collection: Collection<LastSeenDocument> = await store.collection<LastSeenDocument>(lastSeenCollection);
  return {
    async note(organizationId, userId, now) {
      const id = memberId(organizationId, userId);
      const lastSeenAt = now.toISOString();
      const stored = await collection.get(id);
      if (stored !== undefined && stored.document.lastSeenAt >= lastSeenAt) return;
      // Another request of the same member may be first; it notes the same moment.
      await collection.compareAndPut(id, stored?.revision ?? -1, { lastSeenAt });
    },
    async of(organizationId, userIds) {
      const seen = new Map<string, string>();
      for (let start = 0; start < userIds.length; start += most) {
        const ids = userIds.slice(start, start + most).map((userId) => memberId(organizationId, userId));
        for (const [id, { document }] of await collection.getMany(ids))
          seen.set(id.slice(organizationId.length + 1), document.lastSeenAt);
      }
      return seen;
    },
  };
};
