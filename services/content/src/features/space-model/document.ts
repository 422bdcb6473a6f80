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
  /** Filters of lists: deleted spaces are nowhere, and `openToMembers` says whether the default reaches every member. */
  readonly deleted: boolean;
  readonly openToMembers: boolean;
  readonly deletedAt?: string;
  /** Until when it can be restored; only on deleted spaces. */
  readonly purgeAfter?: string;
}

export const spacesCollection: CollectionSpec = {
  name: 'content.spaces',
  version: 1,
  indexes: [
    { name: 'by_organization', fields: ['organizationId', 'deleted', 'createdAt'] },
    { name: 'by_audience', fields: ['organizationId', 'deleted', 'openToMembers', 'createdAt'] },
    { name: 'by_purge', fields: ['deleted', 'purgeAfter'] },
  ],
};
