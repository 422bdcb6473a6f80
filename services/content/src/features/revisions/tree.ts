import { ShardedMap } from '../../shared/sharded-map.ts';
import type { FileNode, PageNode, ReusableContentNode, Tree } from './model.ts';
import { OrderedMap } from './ordered-map.ts';

/** Key of a parent in the lists of children; no page has an empty id. */
export const parentKey = (parent: string | null): string => parent ?? '';
/** Key of a page among its siblings. */
export const slugKey = (parent: string | null, slug: string): string => `${parent ?? ''}/${slug}`;
/** Whether a page has a place in paths: links have no address of their own. */
export const hasSlug = (page: PageNode): boolean => page.type !== 'link' && page.metadata.slug !== '';

const none: readonly string[] = [];

/** The parts of a tree, each sharing what did not change with the tree it came from. */
export interface TreeParts {
  readonly pages: ShardedMap<PageNode>;
  readonly lists: ShardedMap<readonly string[]>;
  /** The page that answers to a slug under a parent: the first one that took it. */
  readonly slugs: ShardedMap<string>;
  /** How many pages do not answer to their slug because a sibling does; 0 in content that was decided here. */
  readonly hiddenBySlug: number;
  readonly files: OrderedMap<FileNode>;
  readonly contents: OrderedMap<ReusableContentNode>;
  readonly variables: Readonly<Record<string, string | number | boolean>>;
}

/** The `Tree` of this service: persistent, so that a revision costs what it changed. */
export class RevisionTree implements Tree {
  readonly parts: TreeParts;

  constructor(parts: TreeParts) {
    this.parts = parts;
  }

  get pageCount(): number {
    return this.parts.pages.size;
  }

  get variables(): Readonly<Record<string, string | number | boolean>> {
    return this.parts.variables;
  }

  page(id: string): PageNode | undefined {
    return this.parts.pages.get(id);
  }

  children(parent: string | null): readonly string[] {
    return this.parts.lists.get(parentKey(parent)) ?? none;
  }

  pathOf(id: string): string {
    const slugs: string[] = [];
    let page = this.page(id);
    while (page) {
      slugs.push(page.metadata.slug);
      page = page.parent === null ? undefined : this.page(page.parent);
    }
    return slugs.reverse().join('/');
  }

  byPath(path: string): PageNode | undefined {
    let parent: string | null = null;
    let page: PageNode | undefined;
    for (const slug of path.split('/')) {
      const id: string | undefined = this.bySlug(parent, slug);
      page = id === undefined ? undefined : this.page(id);
      if (page === undefined) return undefined;
      parent = page.id;
    }
    return page;
  }

  /** The page that answers to a slug below a parent. */
  bySlug(parent: string | null, slug: string): string | undefined {
    return this.parts.slugs.get(slugKey(parent, slug));
  }

  *walk(): Iterable<PageNode> {
    yield* this.below(null);
  }

  /** Everything below a page, parents before children. Without recursion: depth is up to the content. */
  *below(parent: string | null): Iterable<PageNode> {
    const stack = this.children(parent).toReversed();
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      const page = this.page(id);
      if (page === undefined) continue;
      yield page;
      const children = this.children(id);
      for (let index = children.length - 1; index >= 0; index -= 1) {
        const child = children[index];
        if (child !== undefined) stack.push(child);
      }
    }
  }

  file(id: string): FileNode | undefined {
    return this.parts.files.get(id);
  }

  files(): Iterable<FileNode> {
    return this.parts.files.values();
  }

  reusableContent(id: string): ReusableContentNode | undefined {
    return this.parts.contents.get(id);
  }

  reusableContents(): Iterable<ReusableContentNode> {
    return this.parts.contents.values();
  }
}

/** The tree of a space without content. */
export const emptyTree: RevisionTree = new RevisionTree({
  pages: ShardedMap.empty(),
  lists: ShardedMap.empty(),
  slugs: ShardedMap.empty(),
  hiddenBySlug: 0,
  files: OrderedMap.empty(),
  contents: OrderedMap.empty(),
  variables: {},
});
