import type { JSONDocument } from '@bindery/contracts';
import type { RevisionChange, StoredDocument } from '../revisions/model.ts';

export type ChangeRequestStatus = 'draft' | 'open' | 'archived' | 'merged';

/** What a review says. */
export type ReviewStatus = 'changes-requested' | 'approved';

/** Who can be asked for a review. */
export interface ReviewSubject {
  readonly kind: 'user' | 'team';
  readonly id: string;
}

export interface ChangeRequestLink {
  readonly id: string;
  readonly ref: { readonly kind: 'url'; readonly url: string };
  readonly title?: string;
}

/** Something that both sides changed; of a document, both versions stand in it. */
export interface MergeConflict {
  /** What `pageId` names: a page unless stated. */
  readonly kind?: 'reusable-content' | 'file' | 'variable';
  /** Id of the page, file or reusable content, or name of the variable. */
  readonly pageId: string;
  readonly field: 'document' | 'title' | 'slug' | 'position' | 'deleted' | 'metadata';
  /** Keys of the blocks in which both versions stand. */
  readonly blocks?: readonly string[];
}

interface InSpace {
  readonly spaceId: string;
  readonly organizationId: string;
  readonly changeRequestId: string;
}

/** Events of a change request's stream `content.changeRequest-<id>`. */
export type ChangeRequestEvent =
  | {
      readonly type: 'ChangeRequestOpened';
      readonly data: InSpace & {
        readonly number: number;
        readonly subject: string;
        readonly status: 'draft' | 'open';
        readonly revisionInitial: string;
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  | {
      readonly type: 'ChangeRequestDescribed';
      readonly data: InSpace & {
        readonly subject?: string;
        readonly description?: JSONDocument;
        readonly links?: readonly ChangeRequestLink[];
        readonly changedBy: string;
        readonly changedAt: string;
      };
    }
  | {
      readonly type: 'ChangeRequestStatusChanged';
      readonly data: InSpace & {
        readonly from: ChangeRequestStatus;
        readonly to: ChangeRequestStatus;
        readonly changedBy: string;
        readonly changedAt: string;
      };
    }
  /** A piece of a large revision of the branch; counts once `ChangeRequestEdited` or `...Updated` follows in the same append. */
  | {
      readonly type: 'ChangeRequestPartRecorded';
      readonly data: InSpace & {
        readonly revisionId: string;
        readonly part: number;
        readonly changes: readonly RevisionChange[];
        readonly documents: readonly StoredDocument[];
      };
    }
  /** One revision of the branch: the changes since the branch's last revision. */
  | {
      readonly type: 'ChangeRequestEdited';
      readonly data: InSpace & {
        readonly revisionId: string;
        readonly parent: string;
        /** How many `ChangeRequestPartRecorded` events precede it; absent = none. */
        readonly parts?: number;
        readonly changes: readonly RevisionChange[];
        readonly documents: readonly StoredDocument[];
        /**
         * Pages in conflict that the edit settles; there whenever something was in conflict. Absent of older events, which
         * settle what they change.
         */
        readonly settled?: readonly string[];
        readonly editedBy: string;
        readonly editedAt: string;
      };
    }
  /** Somebody named pages in conflict in an edit that leaves them as they are: both versions are wanted. */
  | {
      readonly type: 'ChangeRequestConflictsSettled';
      readonly data: InSpace & {
        readonly settled: readonly string[];
        readonly settledBy: string;
        readonly settledAt: string;
      };
    }
  /** Primary content was merged into the branch. `changes` are against the branch's last revision. */
  | {
      readonly type: 'ChangeRequestUpdated';
      readonly data: InSpace & {
        readonly revisionId: string;
        readonly parents: readonly [string, string];
        readonly primaryRevision: string;
        readonly parts?: number;
        readonly changes: readonly RevisionChange[];
        readonly documents: readonly StoredDocument[];
        readonly conflicts: readonly MergeConflict[];
        readonly updatedBy: string;
        readonly updatedAt: string;
      };
    }
  /** Users and teams were asked for reviews of a revision; those asked before are asked anew. */
  | {
      readonly type: 'ChangeRequestReviewersRequested';
      readonly data: InSpace & {
        readonly revisionId: string;
        readonly reviewers: readonly ReviewSubject[];
        readonly requestedBy: string;
        readonly requestedAt: string;
      };
    }
  | {
      readonly type: 'ChangeRequestReviewerRemoved';
      readonly data: InSpace & ReviewSubject & { readonly removedBy: string; readonly removedAt: string };
    }
  /** The latest review of a reviewer counts. */
  | {
      readonly type: 'ChangeRequestReviewed';
      readonly data: InSpace & {
        readonly reviewId: string;
        readonly revisionId: string;
        readonly status: ReviewStatus;
        readonly reviewer: string;
        /** Who had asked it, or a team of it. */
        readonly requestedBy?: string;
        /** Posted as a comment by whoever appended this, else by a reactor. */
        readonly comment?: {
          readonly commentId: string;
          readonly body: { readonly document: JSONDocument; readonly markdown?: string };
        };
        readonly reviewedAt: string;
      };
    }
  /** From here until merged or abandoned the content is frozen. `mergeId` is the id of the merge revision to be. */
  | {
      readonly type: 'ChangeRequestMergeStarted';
      readonly data: InSpace & {
        readonly mergeId: string;
        readonly revisionId: string;
        readonly startedBy: string;
        readonly startedAt: string;
        /** Merge rules that were not met, of somebody whom a rule lets do so; absent = none. */
        readonly bypassed?: readonly string[];
      };
    }
  | {
      readonly type: 'ChangeRequestMergeAbandoned';
      readonly data: InSpace & { readonly mergeId: string; readonly abandonedAt: string };
    }
  | {
      readonly type: 'ChangeRequestMerged';
      readonly data: InSpace & {
        readonly mergeId: string;
        readonly revisionMerged: string;
        readonly mergedBy: string;
        readonly mergedAt: string;
        /** As `ChangeRequestMergeStarted` says it. */
        readonly bypassed?: readonly string[];
      };
    };
