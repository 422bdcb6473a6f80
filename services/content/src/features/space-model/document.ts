import type { Space } from '@bindery/contracts';
import type { CollectionSpec } from '@bindery/read-store';

/** A space as stored for reading: one per stream, in step with it. */
export interface SpaceDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly title: string;
  readonly emoji?: string;
  readonly icon?: string;
  readonly visibility: Space['visibility'];
  readonly defaultLevel: Space['defaultLevel'];
  readonly editMode?: 'live' | 'locked';
  readonly language?: string;
  /** As the contract's validator let them in: MergeRulesSpaceConfiguration. */
  readonly mergeRules: Readonly<Record<string, unknown>> & { readonly type: 'inherit' | 'none' | 'rules' };
  readonly parent?: string;
  /** Head of the primary content. */
  readonly revision: string;
  /** How many change requests were ever opened: the last number given. */
  readonly changeRequests: number;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** What its computed pages come from, as JSON, and the id of the entry that they are shown as. */
  readonly computed?: { readonly pageId: string; readonly source: string };
  /** Deleted spaces are in no list. */
  readonly deleted: boolean;
  /** Whom its default lets in: every member, nobody, or those whom the place that it is in lets in. */
  readonly audience: 'open' | 'closed' | 'inherit';
  /** `parent` for filters; the empty text is the top of the organization. */
  readonly place: string;
  /** It came from another organization, under which its older change requests are filed. */
  readonly received?: true;
  /** Place among its siblings: spaces and collections of the same parent. */
  readonly order: string;
  readonly deletedAt?: string;
  /** Until when it can be restored; only on deleted spaces. */
  readonly purgeAfter?: string;
}

export const spacesCollection: CollectionSpec = {
  name: 'content.spaces',
  version: 2,
  indexes: [
    { name: 'by_organization', fields: ['organizationId', 'deleted', 'order'] },
    { name: 'by_audience', fields: ['organizationId', 'deleted', 'audience', 'order'] },
    { name: 'by_place', fields: ['organizationId', 'deleted', 'place', 'order', 'audience'] },
    // For neighbours: a place in their order alone, which an index that goes on with another field does not give everywhere.
    { name: 'by_neighbours', fields: ['organizationId', 'deleted', 'place', 'order'] },
    { name: 'by_received', fields: ['received', 'organizationId'] },
    { name: 'by_purge', fields: ['deleted', 'purgeAfter'] },
  ],
};
