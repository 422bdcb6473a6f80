/** A heading and the text below it, up to the next heading. */
export interface SearchSection {
  /** Anchor within the page. */
  readonly id: string;
  readonly title: string;
  /** 1..6. */
  readonly level: number;
  /** Plain text. */
  readonly text: string;
}

/** A page as the index knows it. */
export interface SearchPage {
  readonly spaceId: string;
  readonly organizationId: string;
  readonly pageId: string;
  readonly title: string;
  /** Path within the space, without a leading slash. */
  readonly path: string;
  /** Titles of the pages above, from the top. */
  readonly ancestors: readonly string[];
  readonly description: string;
  /** Text before the first heading is a section with an empty title and id. */
  readonly sections: readonly SearchSection[];
  /** Guard: a page with a revision not above the stored one (removals included) changes nothing. */
  readonly revision: number;
}

/** One change of the index. */
export type SearchChange =
  | { readonly kind: 'put'; readonly page: SearchPage }
  | { readonly kind: 'remove-page'; readonly spaceId: string; readonly pageId: string; readonly revision: number }
  /** Forgets the space and the guards of its pages. */
  | { readonly kind: 'remove-space'; readonly spaceId: string };

/** Where to search: these spaces, or those of an organization (`only` and `except` may hold thousands of ids). */
export type SearchScope =
  | readonly string[]
  | { readonly organizationId: string; readonly only?: readonly string[]; readonly except?: readonly string[] };

/**
 * Place of a hit in the order: score descending, then page id, then space id. How much a page weighs beside others is asked
 * of the index again, so that the place is the same however the index came about.
 */
export interface SearchCursor {
  /** Of the hit, rounded down to thousands or not. */
  readonly score: number;
  readonly pageId: string;
  readonly spaceId: string;
  /** Hits up to this one. Where it is no hit any more, the search goes on after so many, one less. */
  readonly shown: number;
}

export interface SearchRequest {
  /** Any text; only its first 512 characters count. Every word is a beginning of words, and all must occur in the page. */
  readonly query: string;
  readonly spaces: SearchScope;
  /** 1..1001. */
  readonly limit: number;
  /** Hits strictly after this one. */
  readonly after?: SearchCursor;
}

/** A section in which words of the query occur. */
export interface SectionHit {
  readonly id: string;
  readonly title: string;
  readonly level: number;
  /** 0..1: part of the query's words that the section holds. */
  readonly score: number;
  /** Plain text around the first match, at most 200 characters. */
  readonly body: string;
}

export interface SearchHit {
  readonly spaceId: string;
  readonly pageId: string;
  readonly title: string;
  readonly path: string;
  readonly ancestors: readonly string[];
  readonly description: string;
  /** Above 0; higher fits better. 4000: the title is the query; 3000: all words in the title; 2000: in headings; 1000: elsewhere. */
  readonly score: number;
  /** Best first, at most 5; empty when only the title or the description matches. */
  readonly sections: readonly SectionHit[];
}

export interface SearchStats {
  readonly spaces: number;
  readonly pages: number;
  /** Size of the index on disk. */
  readonly bytes: number;
}

/** The search port (DESIGN section 8). A view: it can be dropped and fed again from the events at any time. */
export interface SearchIndex {
  /**
   * Applies changes in order, with the position up to which the index is fed, in one transaction.
   * @param position what {@link SearchIndex.position} answers from then on
   */
  apply(changes: readonly SearchChange[], position?: string): Promise<void>;
  /** {@link SearchIndex.apply} of pages. */
  put(pages: readonly SearchPage[], position?: string): Promise<void>;
  removePage(spaceId: string, pageId: string, revision: number, position?: string): Promise<void>;
  removeSpace(spaceId: string, position?: string): Promise<void>;
  /** Position of the last applied changes; undefined for an empty index. */
  position(): Promise<string | undefined>;
  /** @throws RangeError on a limit out of range; never because of the query */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  /** Writes a consistent copy, position included, to a file that appears whole or not at all. */
  snapshot(path: string): Promise<void>;
  /** Replaces the index by a snapshot. */
  restore(path: string): Promise<void>;
  stats(): Promise<SearchStats>;
  close(): Promise<void>;
}

/** The index cannot be used now: closed, locked, disk full. */
export class SearchUnavailable extends Error {
  readonly code = 'search.unavailable';
}

/** The file is damaged, no search index, or of a newer version; it must be removed and fed again. */
export class SearchIndexUnusable extends Error {
  readonly code = 'search.unusable';
}
