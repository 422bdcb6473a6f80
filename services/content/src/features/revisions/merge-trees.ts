import { diffTrees, editOf } from './diff-trees.ts';
import { sameContent } from './equal.ts';
import { type EntryMerge, mergeEntry } from './merge-entries.ts';
import { mergeMetadata, mergeValue, type Versions } from './merge-fields.ts';
import type { DocumentsToMerge, MergedDocument, MergeInput, MergeResult, TreeConflict } from './merge-types.ts';
import type { PageNode, RevisionChange } from './model.ts';
import type { RevisionTree } from './tree.ts';
import { TreeDraft } from './tree-draft.ts';
import { uniqueSlug } from './unique-slug.ts';

/** The bodies that have to be merged before the trees can be. */
export const documentsToMerge = ({ base, ours, theirs }: MergeInput): readonly DocumentsToMerge[] => {
  const found: DocumentsToMerge[] = [];
  const consider = (kind: DocumentsToMerge['kind'], id: string, before?: string, mine?: string, its?: string) => {
    if (mine === undefined || its === undefined || its === before || mine === before || mine === its) return;
    found.push({ kind, id, ours: mine, theirs: its, ...(before === undefined ? {} : { base: before }) });
  };
  for (const change of diffTrees(base, theirs)) {
    if (change.kind === 'page_edited' || change.kind === 'page_inserted') {
      const id = change.kind === 'page_edited' ? change.pageId : change.page.id;
      consider('page', id, base.page(id)?.documentId, ours.page(id)?.documentId, theirs.page(id)?.documentId);
    }
    if (change.kind === 'reusable_content_put') {
      const { id, documentId } = change.content;
      const [before, mine] = [base.reusableContent(id), ours.reusableContent(id)];
      consider('reusable-content', id, before?.documentId, mine?.documentId, documentId);
    }
  }
  return found;
};

/**
 * Merges what `theirs` did since `base` into `ours`, page by page (DESIGN section 8). Rules:
 * - metadata field by field, position (parent and order) apart from content;
 * - who deletes a page that the other edited, or put something under, loses: the page stays (under the nearest parent
 *   that is left) and the conflict is reported. A deletion wins over a mere move;
 * - two moves of one page to different parents conflict, and so do moves that would close a circle: then the page stays;
 * - siblings with the same slug: the branch's page gets another one, reported.
 * Nothing that either side wrote is lost without being reported.
 */
export const mergeTrees = (input: MergeInput): MergeResult => {
  const delta = diffTrees(input.base, input.theirs);
  if (delta.length === 0) return { tree: input.ours, changes: [], conflicts: [] };
  if (input.base === input.ours) return { tree: input.theirs, changes: delta, conflicts: [] };
  return new TreeMerge(input).run(delta);
};

class TreeMerge {
  readonly #base: RevisionTree;
  readonly #theirs: RevisionTree;
  readonly #documents: ReadonlyMap<string, MergedDocument>;
  readonly #draft: TreeDraft;
  readonly #changes: RevisionChange[] = [];
  readonly #conflicts = new Map<string, TreeConflict>();
  /** Pages whose address the merge changed: the ones to rename when a sibling has the slug. */
  readonly #readdressed = new Set<string>();
  readonly #entries: EntryMerge;

  constructor({ base, ours, theirs, documents }: MergeInput) {
    this.#base = base;
    this.#theirs = theirs;
    this.#documents = documents ?? new Map();
    this.#draft = new TreeDraft(ours);
    this.#entries = {
      base,
      ours,
      emit: (change) => this.#emit(change),
      conflict: (id, field, kind) => this.#conflict(id, field, { kind }),
      document: (id, versions) => this.#mergeDocument(id, versions, 'reusable-content'),
    };
  }

  run(delta: readonly RevisionChange[]): MergeResult {
    this.#restore(delta);
    for (const change of delta) this.#take(change);
    this.#deletePages(delta);
    this.#resolveSlugs();
    return { tree: this.#draft.done(), changes: this.#changes, conflicts: [...this.#conflicts.values()] };
  }

  #take(change: RevisionChange): void {
    switch (change.kind) {
      case 'page_inserted':
        this.#insert(change.page, change.before);
        break;
      case 'page_moved':
        this.#move(change.pageId, change.before);
        break;
      case 'page_edited':
        this.#edit(change.pageId);
        break;
      case 'page_deleted':
        // Last: pages that stay are moved out of the way first.
        break;
      default:
        mergeEntry(change, this.#entries);
    }
  }

  #emit(change: RevisionChange): void {
    this.#draft.apply(change);
    this.#changes.push(change);
  }

  #conflict(pageId: string, field: TreeConflict['field'], more: Pick<TreeConflict, 'kind' | 'blocks'> = {}): void {
    const key = JSON.stringify([more.kind, field, pageId]);
    if (!this.#conflicts.has(key)) this.#conflicts.set(key, { pageId, field, ...more });
  }

  /** The parent that `theirs` wants, or the nearest above it that is left. */
  #surviving(wanted: string | null): string | null {
    let at = wanted;
    while (at !== null && this.#draft.page(at) === undefined) at = this.#theirs.page(at)?.parent ?? null;
    return at;
  }

  /** The sibling to stand in front of: the next one of `theirs` that is a sibling here too. */
  #before(id: string, parent: string | null, wanted: string | null): string | null {
    const sibling = (it: string | null) => it !== null && it !== id && this.#draft.page(it)?.parent === parent;
    if (wanted === null || sibling(wanted)) return wanted;
    const node = this.#theirs.page(id);
    if (node === undefined || node.parent !== parent) return null;
    const list = this.#theirs.children(node.parent);
    return list.slice(list.indexOf(id) + 1).find(sibling) ?? null;
  }

  #insert(page: PageNode, before: string | null): void {
    const mine = this.#draft.page(page.id);
    if (mine !== undefined) {
      // Brought back on both sides: one page again.
      this.#mergePage(undefined, mine, page);
      return;
    }
    const parent = this.#surviving(page.parent);
    if (parent !== page.parent) this.#conflict(page.id, 'deleted');
    this.#emit({
      kind: 'page_inserted',
      page: parent === page.parent ? page : { ...page, parent },
      before: this.#before(page.id, parent, before),
    });
    this.#readdressed.add(page.id);
  }

  #move(id: string, before: string | null): void {
    const mine = this.#draft.page(id);
    const parentBefore = this.#base.page(id)?.parent ?? null;
    const wanted = this.#theirs.page(id)?.parent ?? null;
    if (mine === undefined) return;
    const iMoved = mine.parent !== parentBefore;
    if (wanted === parentBefore) {
      // They only reordered: our move to another parent stands.
      if (!iMoved) this.#emitMove(id, mine.parent, before);
      return;
    }
    const parent = this.#surviving(wanted);
    if ((iMoved && mine.parent !== wanted) || parent !== wanted) this.#conflict(id, 'position');
    if (this.#draft.isWithin(parent, id)) this.#conflict(id, 'position');
    else this.#emitMove(id, parent, before);
  }

  #emitMove(id: string, parent: string | null, wantedBefore: string | null): void {
    const before = this.#before(id, parent, wantedBefore);
    const mine = this.#draft.page(id);
    const list = this.#draft.children(parent);
    const here = list.indexOf(id);
    if (mine?.parent === parent && (list[here + 1] ?? null) === before) return;
    if (mine?.parent !== parent) this.#readdressed.add(id);
    this.#emit({ kind: 'page_moved', pageId: id, parent, before });
  }

  #edit(id: string): void {
    const theirs = this.#theirs.page(id);
    if (theirs === undefined) return;
    const mine = this.#draft.page(id);
    if (mine !== undefined) this.#mergePage(this.#base.page(id), mine, theirs);
  }

  /** Brings back what they edited and we deleted, parents first, before anything else is put under it. */
  #restore(delta: readonly RevisionChange[]): void {
    const gone: { readonly page: PageNode; readonly depth: number }[] = [];
    for (const change of delta) {
      if (change.kind !== 'page_edited' || this.#draft.page(change.pageId) !== undefined) continue;
      const theirs = this.#theirs.page(change.pageId);
      const before = this.#base.page(change.pageId);
      if (theirs === undefined || (before !== undefined && sameContent(before, theirs))) continue;
      gone.push({ page: theirs, depth: this.#theirs.pathOf(theirs.id).split('/').length });
    }
    for (const { page } of gone.sort((a, b) => a.depth - b.depth)) {
      const parent = this.#surviving(page.parent);
      const list = this.#theirs.children(page.parent);
      const next = list[list.indexOf(page.id) + 1] ?? null;
      this.#emit({ kind: 'page_inserted', page: { ...page, parent }, before: this.#before(page.id, parent, next) });
      this.#readdressed.add(page.id);
      this.#conflict(page.id, 'deleted');
    }
  }

  #mergePage(before: PageNode | undefined, mine: PageNode, theirs: PageNode): void {
    const id = mine.id;
    const metadata = mergeMetadata({ base: before?.metadata, ours: mine.metadata, theirs: theirs.metadata });
    for (const field of metadata.conflicts)
      this.#conflict(id, field === 'title' || field === 'slug' ? field : 'metadata');
    const target = mergeValue({ base: before?.target, ours: mine.target, theirs: theirs.target });
    if (target.conflict) this.#conflict(id, 'metadata');
    const documentId = this.#mergeDocument(id, {
      base: before?.documentId,
      ours: mine.documentId,
      theirs: theirs.documentId,
    });
    const merged: PageNode = {
      ...mine,
      metadata: metadata.value,
      ...(documentId === undefined ? {} : { documentId }),
      ...(target.value === undefined ? {} : { target: target.value }),
      ...latest(mine.updatedAt, theirs.updatedAt),
    };
    const change = editOf(mine, merged);
    if (change === undefined) return;
    if (merged.metadata.slug !== mine.metadata.slug) this.#readdressed.add(id);
    this.#emit(change);
  }

  #mergeDocument(id: string, versions: Versions<string>, kind?: 'reusable-content'): string | undefined {
    const ready = this.#documents.get(id);
    const simple = mergeValue(versions);
    const more = kind === undefined ? {} : { kind };
    if (!simple.conflict || ready === undefined) {
      if (simple.conflict) this.#conflict(id, 'document', more);
      return simple.value;
    }
    if (ready.conflicts.length > 0) this.#conflict(id, 'document', { blocks: ready.conflicts, ...more });
    return ready.documentId;
  }

  #deletePages(delta: readonly RevisionChange[]): void {
    const doomed = new Set<string>();
    for (const change of delta) {
      if (change.kind !== 'page_deleted') continue;
      const top = this.#base.page(change.pageId);
      if (top === undefined) continue;
      for (const page of [top, ...this.#base.below(top.id)]) {
        if (this.#theirs.page(page.id) !== undefined) continue;
        const mine = this.#draft.page(page.id);
        if (mine === undefined) continue;
        if (sameContent(mine, page)) doomed.add(page.id);
        else this.#conflict(page.id, 'deleted');
      }
    }
    const tops = [...doomed].filter((id) => !doomed.has(this.#draft.page(id)?.parent ?? ''));
    for (const id of tops) this.#rescue(id, doomed);
    // Whatever was moved out may have left doomed pages below it.
    for (const id of doomed) {
      const parent = this.#draft.page(id)?.parent;
      if (parent !== undefined && !doomed.has(parent ?? '')) this.#emit({ kind: 'page_deleted', pageId: id });
    }
  }

  /** Moves what stays out of a page that goes, to the place where that stands. */
  #rescue(top: string, doomed: ReadonlySet<string>): void {
    const place = this.#draft.page(top);
    if (place === undefined) return;
    const stack = [...this.#draft.children(top)].reverse();
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (doomed.has(id)) {
        stack.push(...[...this.#draft.children(id)].reverse());
        continue;
      }
      // Ours put it there, or edited it.
      this.#conflict(id, this.#theirs.page(id) === undefined ? 'deleted' : 'position');
      this.#emit({ kind: 'page_moved', pageId: id, parent: place.parent, before: top });
      this.#readdressed.add(id);
    }
  }

  #resolveSlugs(): void {
    for (const id of this.#readdressed) {
      const page = this.#draft.page(id);
      if (page === undefined || page.type === 'link') continue;
      const holder = this.#draft.bySlug(page.parent, page.metadata.slug);
      if (holder === undefined || holder === id) continue;
      const slug = uniqueSlug(page.metadata.slug, (wanted) => this.#draft.bySlug(page.parent, wanted) !== undefined);
      const change = editOf(page, { ...page, metadata: { ...page.metadata, slug } });
      if (change !== undefined) this.#emit(change);
      this.#conflict(id, 'slug');
    }
  }
}

/** The later of two times, as the field of a page. */
const latest = (a: string | undefined, b: string | undefined): { readonly updatedAt?: string } => {
  const time = a === undefined || (b !== undefined && b > a) ? b : a;
  return time === undefined ? {} : { updatedAt: time };
};
