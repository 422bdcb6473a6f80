import type { MemberRole } from '@bindery/service-kit';
import type { PurgedContent, RevisionChange, RevisionType, StoredDocument } from '../revisions/model.ts';

export type SpaceVisibility = 'public' | 'unlisted' | 'share-link' | 'visitor-auth' | 'in-collection' | 'private';
export type DefaultLevel = MemberRole | null | 'inherit';
/** Stored as given; the contract's MergeRulesSpaceConfiguration. */
export type MergeRules = Readonly<Record<string, unknown>> & { readonly type: 'inherit' | 'none' | 'rules' };

/** Where the computed pages of a space come from: an entry of its table of contents beside what is written in it. */
export interface ComputedContent {
  /** Id of the entry. */
  readonly pageId: string;
  /** The contract's ComputedContentSource, without looked up values, as JSON: others wrote what is in it. */
  readonly source: string;
}

/** Settings of a space that PATCH can change. Null clears; absent leaves alone. */
export interface SpaceSettings {
  readonly title?: string;
  readonly emoji?: string | null;
  readonly icon?: string | null;
  readonly editMode?: 'live' | 'locked';
  readonly defaultLevel?: DefaultLevel;
  readonly language?: string;
  readonly mergeRules?: MergeRules;
}

/**
 * Events of a space's stream `content.space-<id>`: its settings and life, the numbers of its change requests (so that they
 * are gapless), and its primary line of revisions (so that a merge is decided against the head in one append).
 */
export type SpaceEvent =
  | {
      readonly type: 'SpaceCreated';
      readonly data: {
        readonly spaceId: string;
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
        /** Place among its siblings; older events have none: their time says it. */
        readonly order?: string;
        readonly duplicateOf?: string;
        readonly computed?: ComputedContent;
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  | {
      readonly type: 'SpaceSettingsChanged';
      readonly data: {
        readonly spaceId: string;
        readonly organizationId: string;
        readonly settings: SpaceSettings;
        readonly changedBy: string;
        readonly changedAt: string;
      };
    }
  | {
      readonly type: 'SpaceDeleted';
      readonly data: {
        readonly spaceId: string;
        readonly organizationId: string;
        readonly deletedBy: string;
        readonly deletedAt: string;
        readonly purgeAfter: string;
      };
    }
  | {
      readonly type: 'SpaceRestored';
      readonly data: {
        readonly spaceId: string;
        readonly organizationId: string;
        readonly restoredBy: string;
        readonly restoredAt: string;
      };
    }
  | {
      readonly type: 'SpaceMoved';
      readonly data: {
        readonly spaceId: string;
        readonly organizationId: string;
        /** The collection that it is in now; null = top of the organization. */
        readonly parent: string | null;
        readonly order: string;
        /** Only where the new place allows no other one. */
        readonly visibility?: SpaceVisibility;
        readonly movedBy: string;
        readonly movedAt: string;
      };
    }
  | {
      readonly type: 'SpaceTransferred';
      readonly data: {
        readonly spaceId: string;
        /** The organization that it belongs to now. */
        readonly organizationId: string;
        readonly from: string;
        readonly parent: string | null;
        /** Absent: as before. */
        readonly order?: string;
        readonly visibility?: SpaceVisibility;
        readonly transferredBy: string;
        readonly transferredAt: string;
      };
    }
  | {
      readonly type: 'SpacePurged';
      readonly data: { readonly spaceId: string; readonly organizationId: string; readonly purgedAt: string };
    }
  /** Some of what was stored for reading of a purged space; there are as many as it takes. */
  | {
      readonly type: 'SpaceContentPurged';
      readonly data: PurgedContent & { readonly organizationId: string };
    }
  /** The next number, given to a change request; its own stream follows (a reactor completes it after a crash). */
  | {
      readonly type: 'ChangeRequestNumbered';
      readonly data: {
        readonly spaceId: string;
        readonly organizationId: string;
        readonly changeRequestId: string;
        readonly number: number;
        readonly subject: string;
        readonly status: 'draft' | 'open';
        readonly revisionInitial: string;
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  /** A part of a large revision; counts only once `RevisionCommitted` follows in the same append. */
  | {
      readonly type: 'RevisionPartRecorded';
      readonly data: {
        readonly spaceId: string;
        readonly revisionId: string;
        readonly part: number;
        readonly changes: readonly RevisionChange[];
        readonly documents: readonly StoredDocument[];
      };
    }
  | {
      readonly type: 'RevisionCommitted';
      readonly data: {
        readonly spaceId: string;
        readonly organizationId: string;
        readonly revisionId: string;
        readonly revisionType: RevisionType;
        readonly parents: readonly string[];
        /** How many `RevisionPartRecorded` events precede it. */
        readonly parts: number;
        readonly changes: readonly RevisionChange[];
        readonly documents: readonly StoredDocument[];
        /** Of a merge: the change request and the revision of it that was merged. */
        readonly mergedFrom?: { readonly changeRequestId: string; readonly revisionId: string };
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  /** A merge that was begun and will not happen: keeps its late commit out (PITFALLS 30). */
  | {
      readonly type: 'MergeAbandoned';
      readonly data: {
        readonly spaceId: string;
        readonly changeRequestId: string;
        readonly mergeId: string;
        readonly abandonedAt: string;
      };
    };
