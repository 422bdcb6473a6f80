import type { FileNode } from '../revisions/model.ts';

/** What is imported. */
export type ImportSource =
  | { readonly type: 'website'; readonly url: string }
  | { readonly type: 'file'; readonly files: readonly string[] };

/** What was asked for. */
export interface ImportRequest {
  readonly importRunId: string;
  readonly organizationId: string;
  readonly spaceId: string;
  /** Absent: the primary content. */
  readonly changeRequestId?: string;
  /** Page below which the pages come. */
  readonly pageId?: string;
  readonly siteId?: string;
  readonly source: ImportSource;
  /** Leave out what stands around the text. */
  readonly enhance: boolean;
  /** Address of this instance, for links to it. */
  readonly baseUrl: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  /** ISO time from which it counts as failed. */
  readonly timeoutAt: string;
}

/** Something to read: a page of a website, an uploaded file, or a file in an archive. */
export interface ImportItem {
  /** Of the page that it becomes. */
  readonly id: string;
  /** `page`: becomes a page. `upload`: a file that holds others. */
  readonly kind: 'page' | 'upload';
  /** Address of a website, key of an upload, or the path of a file. */
  readonly address: string;
  /** Links from the first page; 0 for files. */
  readonly depth: number;
}

/** What came of an item. */
export interface SettledItem {
  readonly id: string;
  /**
   * `read`: it is staged. `failed`: it cannot be read. `skipped`: it must not be, or need not be. `same`: it is another item
   * under a second address.
   */
  readonly outcome: 'read' | 'failed' | 'skipped' | 'same';
  /** Of `read`: the blob with what was read, behind a head of random bytes. */
  readonly blob?: string;
  /** Of `failed` and `skipped`: for people. */
  readonly reason?: string;
  /** Other addresses that it has: after redirects, and the one that it says to be its own. */
  readonly aliases?: readonly string[];
  /** Bytes that were fetched or unpacked for it. */
  readonly bytes: number;
  /** Characters of markdown. */
  readonly characters: number;
}

/** A picture or other file that pages show. */
export interface SettledFile {
  /** Address of a website, or path in an archive. */
  readonly address: string;
  readonly file?: FileNode;
  /** Why it is not there. */
  readonly reason?: string;
}

/** A page of the result; folders hold others and have no text. */
export interface ImportedPage {
  readonly id: string;
  readonly type: 'page' | 'folder';
}

interface Ids {
  readonly importRunId: string;
  readonly organizationId: string;
  readonly spaceId: string;
}

/** Events of `content.importRun-<id>`. */
export type ImportRunEvent =
  | { readonly type: 'ImportRunRequested'; readonly data: ImportRequest }
  /** A process begins, or goes on with what another one left; what earlier ones still do is refused from here on. */
  | {
      readonly type: 'ImportRunTaken';
      readonly data: Ids & { readonly worker: string; readonly takenAt: string };
    }
  | {
      readonly type: 'ImportRunProgressed';
      readonly data: Ids & {
        readonly found: readonly ImportItem[];
        readonly settled: readonly SettledItem[];
        readonly files: readonly SettledFile[];
        /** Links that were not followed because there are too many pages. */
        readonly beyond: number;
        readonly progressedAt: string;
      };
    }
  /** Everything is read; what follows goes into the content, and cannot be cancelled. */
  | { readonly type: 'ImportRunLanding'; readonly data: Ids & { readonly landingAt: string } }
  | {
      readonly type: 'ImportRunCompleted';
      readonly data: Ids & {
        readonly changeRequestId: string;
        readonly revisionId: string;
        readonly merged: boolean;
        readonly pages: readonly ImportedPage[];
        readonly failed: number;
        /** What did not come along, for people. */
        readonly reason?: string;
        readonly completedAt: string;
      };
    }
  | {
      readonly type: 'ImportRunFailed';
      readonly data: Ids & {
        /** A word for machines. */
        readonly code: string;
        readonly reason: string;
        readonly failedAt: string;
      };
    }
  | {
      readonly type: 'ImportRunCancelled';
      readonly data: Ids & { readonly cancelledBy: string; readonly cancelledAt: string };
    }
  /** What was staged is deleted. */
  | { readonly type: 'ImportRunCleared'; readonly data: Ids & { readonly clearedAt: string } };
