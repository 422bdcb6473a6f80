import type { ContentRef, JSONDocument } from '@bindery/contracts';

/** Page metadata that an edit can change, as stored. Absent = never set (STYLE: absent and null differ on the way in only). */
export interface PageMetadata {
  readonly title: string;
  readonly slug: string;
  readonly description?: string;
  readonly emoji?: string;
  readonly icon?: string;
  readonly linkTitle?: string;
  readonly hidden?: boolean;
  readonly noIndex?: boolean;
  readonly noRobotsIndex?: boolean;
  readonly condition?: string;
  readonly layout?: Readonly<Record<string, unknown>>;
  readonly cover?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, string | number | boolean>>;
  readonly metaLinks?: Readonly<Record<string, unknown>>;
  readonly tags?: readonly { readonly tag: string; readonly primary?: boolean }[];
  /** Front matter keys that we do not interpret; kept so that they come back. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** One page of a revision: immutable; a changed page is a new node. Bodies live apart, named by `documentId`. */
export interface PageNode {
  readonly id: string;
  readonly type: 'document' | 'group' | 'link';
  /** Parent page, or null at the top level. Groups are only at the top level. */
  readonly parent: string | null;
  readonly metadata: PageMetadata;
  /** Document pages only. */
  readonly documentId?: string;
  /** Link pages only. */
  readonly target?: ContentRef;
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

export interface FileNode {
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
  /** Names the bytes in the blob store. */
  readonly sha256: string;
  readonly dimensions?: { readonly width: number; readonly height: number };
}

export interface ReusableContentNode {
  readonly id: string;
  readonly title: string;
  readonly documentId?: string;
}

/**
 * A step from one revision to the next: facts, already decided. Order matters. `before` is the sibling that the page stands
 * in front of (null = last): a sibling id, not an index, so that it still means the same after a merge.
 */
export type RevisionChange =
  | { readonly kind: 'page_inserted'; readonly page: PageNode; readonly before: string | null }
  | {
      readonly kind: 'page_edited';
      readonly pageId: string;
      readonly metadata?: PageMetadata;
      readonly documentId?: string;
      readonly target?: ContentRef;
      readonly updatedAt: string;
    }
  | {
      readonly kind: 'page_moved';
      readonly pageId: string;
      readonly parent: string | null;
      readonly before: string | null;
    }
  /** The page and everything below it. */
  | { readonly kind: 'page_deleted'; readonly pageId: string }
  | { readonly kind: 'file_put'; readonly file: FileNode }
  | { readonly kind: 'file_deleted'; readonly fileId: string }
  | { readonly kind: 'reusable_content_put'; readonly content: ReusableContentNode }
  | { readonly kind: 'reusable_content_deleted'; readonly contentId: string }
  | { readonly kind: 'variables_set'; readonly variables: Readonly<Record<string, string | number | boolean>> };

/** Some of what is stored for reading of a space that is gone for good. */
export interface PurgedContent {
  readonly spaceId: string;
  readonly changeRequests?: readonly string[];
  readonly revisions?: readonly {
    readonly id: string;
    /** Earlier pieces of the revision. */
    readonly parts: number;
    /** Pieces of its whole tree; 0 when it has none of its own. */
    readonly chunks: number;
  }[];
  readonly documents?: readonly string[];
  /** Pages, files and reusable contents as if they were deleted one by one: with them goes what they link to. */
  readonly deleted?: readonly RevisionChange[];
}

/**
 * The revision of writes that remove purged content: above those of every stream, as nothing is written there any more, and
 * branches and repositories have streams of their own.
 */
export const purgedRevision: number = Number.MAX_SAFE_INTEGER;

/** A page body that an event brings along; written once, never changed. */
export interface StoredDocument {
  readonly id: string;
  readonly document: JSONDocument;
}

/** The whole structure of a revision in memory: immutable, shares unchanged parts with its parent. */
export interface Tree {
  page(id: string): PageNode | undefined;
  /** Ids of the children in order; null = top level. */
  children(parent: string | null): readonly string[];
  /** Whole path of slugs from the root, `a/b/c`. */
  pathOf(id: string): string;
  /** The page at a path, if any. */
  byPath(path: string): PageNode | undefined;
  /** All pages, parents before children, siblings in order. */
  walk(): Iterable<PageNode>;
  readonly pageCount: number;
  file(id: string): FileNode | undefined;
  files(): Iterable<FileNode>;
  reusableContent(id: string): ReusableContentNode | undefined;
  reusableContents(): Iterable<ReusableContentNode>;
  readonly variables: Readonly<Record<string, string | number | boolean>>;
}

export type RevisionType = 'edits' | 'merge' | 'rollback' | 'update' | 'computed';

/** What is known of a revision besides its tree. */
export interface RevisionInfo {
  readonly id: string;
  readonly spaceId: string;
  readonly organizationId: string;
  readonly type: RevisionType;
  readonly parents: readonly string[];
  /** The change request whose branch it is on; absent on the primary line. */
  readonly changeRequestId?: string;
  /** Of a merge revision: the change request it came from. */
  readonly mergedFrom?: string;
  readonly createdBy: string;
  readonly createdAt: string;
}

/** Reads revisions; everything it returns is immutable and cached by revision id (bounded). */
export interface RevisionReader {
  /** undefined when the space has no such revision. */
  info(spaceId: string, revisionId: string): Promise<RevisionInfo | undefined>;
  /** @throws Problem not-found */
  tree(spaceId: string, revisionId: string): Promise<Tree>;
  /** Bodies by document id; ids of other spaces are absent. */
  documents(spaceId: string, documentIds: readonly string[]): Promise<ReadonlyMap<string, JSONDocument>>;
}
