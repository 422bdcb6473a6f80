import type { JSONDocument } from '@bindery/contracts';
import type { PageMetadata, PageNode, RevisionChange, RevisionTree } from '../../revisions/index.ts';
import { TreeDraft } from '../../revisions/index.ts';
import { fault } from './faults.ts';

/** A body that the batch gave to a page. */
export interface PendingBody {
  readonly documentId: string;
  readonly document: JSONDocument;
  readonly isMarkdown: boolean;
  /** The body that the page had before the batch; absent for a page of the batch. */
  readonly before?: string;
}

/** What became of a page, as far as the batch knows. */
export type Outcome =
  | { readonly kind: 'created'; readonly ref?: string }
  | { readonly kind: 'updated' }
  | { readonly kind: 'deleted' };

/** How deep pages may stand in one another: what can be answered within the depth that JSON may have (own limit). */
const maxDepth = 40;

/** A batch being applied: the tree as it is so far, and what was noted on the way. */
export class EditSession {
  readonly start: RevisionTree;
  readonly draft: TreeDraft;
  readonly changes: RevisionChange[] = [];
  /** In the order in which pages were first touched. */
  readonly outcomes = new Map<string, Outcome>();
  readonly pageRefs = new Map<string, string>();
  readonly fileRefs = new Map<string, string>();
  readonly bodies = new Map<string, PendingBody>();
  readonly newId: () => string;
  /** ISO time of the batch. */
  readonly now: string;

  constructor(start: RevisionTree, newId: () => string, now: string) {
    this.start = start;
    this.draft = new TreeDraft(start);
    this.newId = newId;
    this.now = now;
  }

  apply(change: RevisionChange): void {
    this.draft.apply(change);
    this.changes.push(change);
  }

  touch(pageId: string, outcome: Outcome): void {
    const known = this.outcomes.get(pageId);
    // A page of the batch stays created, whatever else happens to it; deleted again, it never was.
    if (known?.kind === 'created' && outcome.kind === 'deleted') this.outcomes.delete(pageId);
    else if (known?.kind !== 'created') this.outcomes.set(pageId, outcome);
  }

  /** @throws Problem invalid naming the field */
  existing(pageId: string, field: string): PageNode {
    const page = this.draft.page(pageId);
    if (page === undefined) throw fault('no_page', field, `there is no page ${pageId} in this change request`);
    return page;
  }

  /**
   * Checks that pages may go below a page.
   * @param height levels of pages below the one that goes there
   */
  checkParent(parent: string | null, height: number, field: string): void {
    let depth = height + 1;
    for (let at = parent; at !== null; at = this.draft.page(at)?.parent ?? null) depth += 1;
    if (depth > maxDepth) throw fault('too_deep', field, `pages cannot stand more than ${maxDepth} levels deep`);
    if (parent === null) return;
    if (this.existing(parent, field).type === 'link')
      throw fault('parent_is_link', field, 'a link page cannot have pages below it');
  }

  /** Levels of pages below a page. */
  heightOf(pageId: string): number {
    let height = 0;
    let level = this.draft.children(pageId);
    for (; level.length > 0 && height <= maxDepth; height += 1) level = level.flatMap((id) => this.draft.children(id));
    return height;
  }

  /** Whether a slug is taken below a parent by another page than this one. */
  isTaken(parent: string | null, slug: string, pageId: string): boolean {
    const holder = this.draft.bySlug(parent, slug);
    return holder !== undefined && holder !== pageId;
  }

  editMetadata(page: PageNode, metadata: PageMetadata): void {
    this.apply({ kind: 'page_edited', pageId: page.id, metadata, updatedAt: this.now });
  }
}

/** The sibling in front of which a page goes for it to get a place. @param siblings without the page itself */
export const siblingAt = (siblings: readonly string[], at: number | undefined): string | null =>
  at === undefined ? null : (siblings[at] ?? null);
