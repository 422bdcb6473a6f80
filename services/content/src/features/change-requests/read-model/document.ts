import type { CollectionSpec } from '@bindery/read-store';
import type { ChangeRequestLink, ChangeRequestStatus } from '../events.ts';

/** How often somebody changed the content. */
export interface Contribution {
  readonly user: string;
  readonly count: number;
  readonly updatedAt: string;
}

/** A change request as stored for reading: one per stream, in step with it. */
export interface ChangeRequestDocument {
  readonly id: string;
  readonly spaceId: string;
  readonly organizationId: string;
  readonly number: number;
  readonly status: ChangeRequestStatus;
  readonly subject: string;
  /** JSON of the description: what was written by others is kept as text (PITFALLS 44). */
  readonly description?: string;
  readonly links?: readonly ChangeRequestLink[];
  readonly createdBy: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly mergedBy?: string;
  readonly mergedAt?: string;
  readonly revision: string;
  readonly revisionInitial: string;
  readonly revisionMergedAncestor?: string;
  readonly revisionMerged?: string;
  /** Since when a merge has been under way. */
  readonly mergingSince?: string;
  /** Who opened it and who edited it, for the filter. */
  readonly contributors: readonly string[];
  readonly contributions: readonly Contribution[];
  /** Ids of users and teams that were asked for a review, for the filter. */
  readonly requestedReviewers: readonly string[];
}

export const changeRequestsCollection: CollectionSpec = {
  name: 'content.change_requests',
  version: 2,
  indexes: [
    { name: 'by_number', fields: ['spaceId', 'number'], unique: true },
    { name: 'by_space_updated', fields: ['spaceId', 'status', 'updatedAt'] },
    { name: 'by_space_created', fields: ['spaceId', 'status', 'createdAt'] },
    { name: 'by_organization_updated', fields: ['organizationId', 'status', 'updatedAt'] },
    { name: 'by_organization_created', fields: ['organizationId', 'status', 'createdAt'] },
    { name: 'by_creator', fields: ['createdBy'] },
    { name: 'by_contributor', fields: ['contributors'], multi: true },
    { name: 'by_requested_reviewer', fields: ['requestedReviewers'], multi: true },
    { name: 'by_merging', fields: ['mergingSince'] },
  ],
};
