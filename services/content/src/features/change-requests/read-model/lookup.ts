import type { LiveCollection } from '@bindery/event-sourcing';
import type { Collection, Stored } from '@bindery/read-store';
import { type ChangeRequestDocument, changeRequestsCollection } from './document.ts';

/** The live read model of change requests, for reading. */
export type ChangeRequestsCollection = Pick<
  Collection<ChangeRequestDocument>,
  'get' | 'getMany' | 'query' | 'count' | 'scan' | 'spec'
>;

/** Finds change requests the way paths name them. */
export interface ChangeRequestLookup {
  /** By id or by number in the space (reference: Endpoints); undefined when the space has none such. */
  find(spaceId: string, idOrNumber: string): Promise<Stored<ChangeRequestDocument> | undefined>;
  /** Its newest revision. */
  head(spaceId: string, idOrNumber: string): Promise<string | undefined>;
  /** How many are open and how many are drafts. */
  counts(spaceId: string): Promise<{ readonly open: number; readonly draft: number }>;
}

export const openChangeRequests = (live: LiveCollection): ChangeRequestsCollection =>
  live<ChangeRequestDocument>(changeRequestsCollection);

/** Ids are never all digits (DESIGN section 8), so what is one is a number. */
const asNumber = /^[1-9]\d{0,14}$/;

export const createChangeRequestLookup = (collection: ChangeRequestsCollection): ChangeRequestLookup => {
  const find: ChangeRequestLookup['find'] = async (spaceId, idOrNumber) => {
    if (asNumber.test(idOrNumber)) {
      const [found] = await collection.query({ where: { spaceId, number: Number(idOrNumber) }, limit: 1 });
      return found;
    }
    const found = await collection.get(idOrNumber);
    return found?.document.spaceId === spaceId ? found : undefined;
  };
  return {
    find,
    head: async (spaceId, idOrNumber) => (await find(spaceId, idOrNumber))?.document.revision,
    async counts(spaceId) {
      const [open, draft] = await Promise.all([
        collection.count({ spaceId, status: 'open' }),
        collection.count({ spaceId, status: 'draft' }),
      ]);
      return { open, draft };
    },
  };
};
