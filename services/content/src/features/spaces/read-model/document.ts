import type { CollectionSpec } from '@bindery/read-store';
import type { DefaultLevel, MergeRules, SpaceVisibility } from '../events.ts';

/** A space as stored for reading: one per stream, in step with it. */
export interface SpaceDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly title: string;
  readonly emoji?: string;
  readonly icon?: string;
  readonly visibility: SpaceVisibility;
  readonly defaultLevel: DefaultLevel;
  readonly editMode?: 'live' | 'locked';
  readonly language?: string;
  readonly mergeRules: MergeRules;
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
