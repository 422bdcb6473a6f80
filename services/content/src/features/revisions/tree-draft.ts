import type { MapDraft } from '../../shared/sharded-map.ts';
import type { FileNode, PageNode, ReusableContentNode, RevisionChange } from './model.ts';
import type { OrderedDraft } from './ordered-map.ts';
import { hasSlug, parentKey, RevisionTree, slugKey } from './tree.ts';

const none: readonly string[] = [];

/**
 * A tree under change: reads see the changes made so far. Every change is total, since it is a fact that was recorded:
 * what names a missing page changes nothing, a missing parent means the top level, a missing neighbour means last.
 */
export class TreeDraft {
  readonly #tree: RevisionTree;
  readonly #pages: MapDraft<PageNode>;
  readonly #lists: MapDraft<readonly string[]>;
  readonly #slugs: MapDraft<string>;
  readonly #ownLists = new Map<string, string[]>();
  readonly #files: OrderedDraft<FileNode>;
  readonly #contents: OrderedDraft<ReusableContentNode>;
  #hiddenBySlug: number;
  #variables: Readonly<Record<string, string | number | boolean>>;

  constructor(tree: RevisionTree) {
    const { pages, lists, slugs, hiddenBySlug, files, contents, variables } = tree.parts;
    this.#tree = tree;
    this.#pages = pages.edit();
    this.#lists = lists.edit();
    this.#slugs = slugs.edit();
    this.#hiddenBySlug = hiddenBySlug;
    this.#files = files.edit();
    this.#contents = contents.edit();
    this.#variables = variables;
  }

  page(id: string): PageNode | undefined {
    return this.#pages.get(id);
  }

  children(parent: string | null): readonly string[] {
    const key = parentKey(parent);
    return this.#ownLists.get(key) ?? this.#lists.get(key) ?? none;
  }

  /** The page that answers to a slug below a parent. */
  bySlug(parent: string | null, slug: string): string | undefined {
    return this.#slugs.get(slugKey(parent, slug));
  }

  file(id: string): FileNode | undefined {
    return this.#files.get(id);
  }

  reusableContent(id: string): ReusableContentNode | undefined {
    return this.#contents.get(id);
  }

  get variables(): Readonly<Record<string, string | number | boolean>> {
    return this.#variables;
  }

  /** Whether `id` is `ancestor` or stands somewhere below it. */
  isWithin(id: string | null, ancestor: string): boolean {
    for (let at: string | null = id; at !== null; at = this.page(at)?.parent ?? null) if (at === ancestor) return true;
    return false;
  }

  apply(change: RevisionChange): void {
    switch (change.kind) {
      case 'page_inserted':
        this.#insert(change.page, change.before);
        break;
      case 'page_edited':
        this.#edit(change);
        break;
      case 'page_moved':
        this.#move(change.pageId, change.parent, change.before);
        break;
      case 'page_deleted':
        this.#delete(change.pageId);
        break;
      case 'file_put':
        this.#files.put(change.file);
        break;
      case 'file_deleted':
        this.#files.delete(change.fileId);
        break;
      case 'reusable_content_put':
        this.#contents.put(change.content);
        break;
      case 'reusable_content_deleted':
        this.#contents.delete(change.contentId);
        break;
      case 'variables_set':
        this.#variables = change.variables;
        break;
    }
  }

  done(): RevisionTree {
    for (const [key, list] of this.#ownLists) {
      if (list.length === 0) this.#lists.delete(key);
      else this.#lists.set(key, list);
    }
    const before = this.#tree.parts;
    const parts = {
      pages: this.#pages.done(),
      lists: this.#lists.done(),
      slugs: this.#slugs.done(),
      hiddenBySlug: this.#hiddenBySlug,
      files: this.#files.done(),
      contents: this.#contents.done(),
      variables: this.#variables,
    };
    const same =
      parts.pages === before.pages &&
      parts.lists === before.lists &&
      parts.files === before.files &&
      parts.contents === before.contents &&
      parts.variables === before.variables;
    return same ? this.#tree : new RevisionTree(parts);
  }

  #own(parent: string | null): string[] {
    const key = parentKey(parent);
    const mine = this.#ownLists.get(key);
    if (mine) return mine;
    const copy = (this.#lists.get(key) ?? none).slice();
    this.#ownLists.set(key, copy);
    return copy;
  }

  #insert(page: PageNode, before: string | null): void {
    const parent = page.parent !== null && this.page(page.parent) === undefined ? null : page.parent;
    const known = this.page(page.id);
    if (known !== undefined) {
      this.#replace(known, { ...page, parent: known.parent });
      return;
    }
    const node = parent === page.parent ? page : { ...page, parent };
    this.#pages.set(node.id, node);
    this.#place(node.id, parent, before);
    this.#takeSlug(node);
  }

  #edit(change: RevisionChange & { readonly kind: 'page_edited' }): void {
    const page = this.page(change.pageId);
    if (page === undefined) return;
    this.#replace(page, {
      ...page,
      ...(change.metadata === undefined ? {} : { metadata: change.metadata }),
      ...(change.documentId === undefined ? {} : { documentId: change.documentId }),
      ...(change.target === undefined ? {} : { target: change.target }),
      updatedAt: change.updatedAt,
    });
  }

  #move(id: string, wanted: string | null, before: string | null): void {
    const page = this.page(id);
    if (page === undefined) return;
    const parent = wanted !== null && this.page(wanted) === undefined ? null : wanted;
    if (this.isWithin(parent, id)) return;
    this.#unlist(page);
    this.#place(id, parent, before === id ? null : before);
    if (parent !== page.parent) this.#replace(page, { ...page, parent });
  }

  #delete(id: string): void {
    const top = this.page(id);
    if (top === undefined) return;
    this.#unlist(top);
    const stack = [top];
    for (let page = stack.pop(); page !== undefined; page = stack.pop()) {
      this.#leaveSlug(page);
      for (const child of this.children(page.id)) {
        const node = this.page(child);
        if (node) stack.push(node);
      }
      if (this.children(page.id).length > 0) this.#own(page.id).length = 0;
      this.#pages.delete(page.id);
    }
  }

  #replace(before: PageNode, after: PageNode): void {
    const readdressed =
      before.parent !== after.parent || before.metadata.slug !== after.metadata.slug || before.type !== after.type;
    if (readdressed) this.#leaveSlug(before);
    this.#pages.set(after.id, after);
    if (readdressed) this.#takeSlug(after);
  }

  #place(id: string, parent: string | null, before: string | null): void {
    const list = this.#own(parent);
    const index = before === null ? -1 : list.indexOf(before);
    if (index < 0) list.push(id);
    else list.splice(index, 0, id);
  }

  #unlist(page: PageNode): void {
    const list = this.#own(page.parent);
    const index = list.indexOf(page.id);
    if (index >= 0) list.splice(index, 1);
  }

  #takeSlug(page: PageNode): void {
    if (!hasSlug(page)) return;
    const key = slugKey(page.parent, page.metadata.slug);
    const holder = this.#slugs.get(key);
    if (holder === undefined) this.#slugs.set(key, page.id);
    else if (holder !== page.id) this.#hiddenBySlug += 1;
  }

  #leaveSlug(page: PageNode): void {
    if (!hasSlug(page)) return;
    const key = slugKey(page.parent, page.metadata.slug);
    if (this.#slugs.get(key) !== page.id) {
      this.#hiddenBySlug -= 1;
      return;
    }
    const heir = this.#hiddenBySlug === 0 ? undefined : this.#sibling(page);
    if (heir === undefined) {
      this.#slugs.delete(key);
      return;
    }
    this.#slugs.set(key, heir);
    this.#hiddenBySlug -= 1;
  }

  #sibling(page: PageNode): string | undefined {
    return this.children(page.parent).find((id) => {
      const other = id === page.id ? undefined : this.page(id);
      return other !== undefined && hasSlug(other) && other.metadata.slug === page.metadata.slug;
    });
  }
}

/**
 * The tree after some changes; shares everything else with `tree`. Never throws for what was recorded.
 * @returns `tree` itself when nothing changed
 */
export const applyChanges = (tree: RevisionTree, changes: readonly RevisionChange[]): RevisionTree => {
  if (changes.length === 0) return tree;
  const draft = new TreeDraft(tree);
  for (const change of changes) draft.apply(change);
  return draft.done();
};
