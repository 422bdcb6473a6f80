import type { ContentLocation, Space } from '@bindery/contracts';
import { isProblem, type OperationContext } from '@bindery/service-kit';
import { presentPage, presentReusableContent } from '../pages/index.ts';
import type { Tree } from '../revisions/index.ts';
import type { LinksDeps } from './deps.ts';
import type { ResolvedTarget, Surroundings } from './resolve.ts';

/** Puts resources around what links and what is linked to, from the current contents of spaces. */
export interface Presenter {
  /** The location of a link; undefined when it is gone meanwhile. */
  location(spaceId: string, location: string, node?: string): Promise<ContentLocation | undefined>;
  /** Undefined when it is broken, or gone meanwhile. */
  target(target: ResolvedTarget): Promise<ContentLocation | undefined>;
}

/** The tree as if no page had pages below it: a location is one page, not a table of contents. */
const flat = (tree: Tree): Tree => Object.create(tree, { children: { value: () => [] } });

/** @param organizationId whose collections and specifications are linked to */
export const createPresenter = (
  deps: Pick<LinksDeps, 'reader' | 'fileLinks'>,
  { baseUrl }: OperationContext,
  organizationId: string,
  around: Surroundings,
): Presenter => {
  const trees = new Map<string, Tree | undefined>();
  const treeOf = async ({ id, revision }: Space): Promise<Tree | undefined> => {
    if (trees.has(id)) return trees.get(id);
    const tree = await deps.reader.tree(id, revision).catch((error: unknown) => {
      // Purged between the two reads, or not readable yet: as good as gone.
      if (isProblem(error)) return undefined;
      throw error;
    });
    trees.set(id, tree);
    return tree;
  };
  const inSpace = async (
    spaceId: string,
    make: (tree: Tree, around: { readonly organization: string; readonly space: Space }) => ContentLocation | undefined,
  ): Promise<ContentLocation | undefined> => {
    const space = around.spaces.get(spaceId);
    const tree = space && (await treeOf(space));
    return space && tree && make(tree, { organization: space.organization, space });
  };
  const pageOf = (
    spaceId: string,
    pageId: string,
    internal?: { type: 'anchor'; anchor: string } | { type: 'node'; node: string },
  ) =>
    inSpace(spaceId, (tree, rest) => {
      const found = tree.page(pageId);
      if (found === undefined) return undefined;
      const page = presentPage({ baseUrl, spaceId, tree: flat(tree) }, found);
      return { kind: 'page', ...rest, page, ...(internal === undefined ? {} : { internalLocation: internal }) };
    });
  const contentOf = (spaceId: string, contentId: string) =>
    inSpace(spaceId, (tree, rest) => {
      const found = tree.reusableContent(contentId);
      return found && { kind: 'reusable-content', ...rest, reusableContent: presentReusableContent(found) };
    });

  return {
    async location(spaceId, location, node) {
      const id = location.slice(2);
      if (location.startsWith('c/')) return contentOf(spaceId, id);
      return pageOf(spaceId, id, node === undefined ? undefined : { type: 'node', node });
    },
    async target({ target, status }) {
      if (status === 'broken') return undefined;
      const organization = organizationId;
      switch (target.kind) {
        case 'url':
          return { kind: 'url', url: target.url };
        case 'user':
          return { kind: 'user', user: target.user };
        case 'page':
          return pageOf(target.space, target.page);
        case 'anchor':
          return pageOf(target.space, target.page, { type: 'anchor', anchor: target.anchor });
        case 'content':
          return contentOf(target.space, target.content);
        case 'file':
          return inSpace(target.space, (tree, rest) => {
            const file = tree.file(target.file);
            return file && { kind: 'file', ...rest, file: deps.fileLinks.represent(baseUrl, target.space, file) };
          });
        case 'space': {
          const space = around.spaces.get(target.space);
          return space && { kind: 'space', organization: space.organization, space };
        }
        case 'collection': {
          const collection = around.collections.get(target.collection);
          return collection && { kind: 'collection', organization: collection.organization, collection };
        }
        case 'openapi': {
          const openAPISpec = around.specs.get(target.spec);
          return openAPISpec && { kind: 'openapi', organization, openAPISpec };
        }
      }
    },
  };
};
