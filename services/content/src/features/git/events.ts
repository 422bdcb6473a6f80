import type { RevisionChange, StoredDocument } from '../revisions/model.ts';

export type GitDirection = 'import' | 'export';

/** What was asked for. There are no credentials in it: those are in the memory of the process that was asked. */
export interface GitOperationRequest {
  readonly operationId: string;
  readonly direction: GitDirection;
  /** Of the repository, without credentials. */
  readonly url: string;
  /** `refs/heads/main` */
  readonly ref: string;
  /** Folder of the project; empty for the root. */
  readonly directory: string;
  readonly force: boolean;
  readonly standalone: boolean;
  /** ISO time that orders operations of one direction. */
  readonly timestamp?: string;
  readonly commitMessage?: string;
  readonly repoTreeURL?: string;
  readonly repoCommitURL?: string;
  readonly provider: 'github' | 'gitlab' | 'github-legacy';
  readonly repoName: string;
  /** Whether credentials came with it: without them in memory it cannot go on. */
  readonly hasCredentials: boolean;
  /** Address of this instance, for links out of the space. */
  readonly baseUrl: string;
  readonly startedBy: string;
  readonly startedAt: string;
  /** ISO time from which it counts as timed out. */
  readonly timeoutAt: string;
}

/** Where something of the space stands in the repository. `path` is empty for what has no file of its own. */
export interface GitPlace {
  readonly kind: 'page' | 'file' | 'content' | 'summary';
  readonly id: string;
  readonly path: string;
  readonly oid: string;
  /** Not in the table of contents. */
  readonly unlisted?: true;
}

export interface GitCommit {
  readonly oid: string;
  readonly message: string;
  readonly committedAt: string;
}

interface InSpace {
  readonly spaceId: string;
  readonly organizationId: string;
  readonly operationId: string;
}

/** Events of `content.gitSync-<space id>`: the syncs of a space, where its parts stand, and revisions that are not on its line. */
export type GitSyncEvent =
  | { readonly type: 'GitSyncStarted'; readonly data: Omit<InSpace, 'operationId'> & GitOperationRequest }
  /** Changes of the places since the sync before, in pieces; they count once `GitSyncCompleted` follows in the same append. */
  | {
      readonly type: 'GitPlacesChanged';
      readonly data: InSpace & { readonly put: readonly GitPlace[]; readonly gone: readonly string[] };
    }
  /** A piece of a large revision; counts once `GitRevisionRecorded` follows in the same append. */
  | {
      readonly type: 'GitRevisionPartRecorded';
      readonly data: {
        readonly spaceId: string;
        readonly revisionId: string;
        readonly part: number;
        readonly changes: readonly RevisionChange[];
        readonly documents: readonly StoredDocument[];
      };
    }
  /** The content of a commit as a revision beside the primary line. */
  | {
      readonly type: 'GitRevisionRecorded';
      readonly data: InSpace & {
        readonly revisionId: string;
        readonly parents: readonly string[];
        readonly parts: number;
        readonly changes: readonly RevisionChange[];
        readonly documents: readonly StoredDocument[];
        readonly createdBy: string;
        readonly createdAt: string;
      };
    }
  | {
      readonly type: 'GitSyncCompleted';
      readonly data: InSpace & {
        readonly direction: GitDirection;
        /** The revision that says what the commit says, or that was exported. */
        readonly revisionId: string;
        /** The revision that says exactly what the repository says: what the next sync starts from. Absent when standalone. */
        readonly syncedRevisionId?: string;
        readonly commit: GitCommit;
        readonly changed: boolean;
        readonly standalone: boolean;
        readonly ref: string;
        /** Of the commit, for people. */
        readonly url?: string;
        readonly endedAt: string;
      };
    }
  | {
      readonly type: 'GitSyncFailed';
      readonly data: InSpace & {
        readonly direction: GitDirection;
        readonly state: 'failure' | 'timeout';
        /** A word for machines. */
        readonly reason: string;
        /** For whoever started it. */
        readonly error: string;
        readonly endedAt: string;
      };
    };
