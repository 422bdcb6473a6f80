import { isDeepStrictEqual } from 'node:util';
import type {
  Change,
  ChangedFile,
  ChangedPage,
  JSONDocument,
  PageAttributeChanges,
  SemanticChange,
} from '@bindery/contracts';
import {
  diffTrees,
  type FileNode,
  type PageNode,
  type ReusableContentNode,
  type RevisionChange,
  type RevisionTree,
} from '../revisions/index.ts';

/** What the differences are looked up in. */
export interface SemanticSources {
  readonly from: RevisionTree;
  readonly to: RevisionTree;
  readonly documents: (ids: readonly string[]) => Promise<ReadonlyMap<string, JSONDocument>>;
  readonly presentFile: (file: FileNode) => ChangedFile & Pick<FileNode, 'size' | 'dimensions'>;
}

/** A difference before its bodies are read. */
interface Draft {
  readonly documents: readonly string[];
  /** Undefined when nothing that could be named differs. */
  readonly build: (body: (id: string | undefined) => JSONDocument | undefined) => SemanticChange | undefined;
}

/**
 * The differences between two revisions as people speak of them (gaps-filled section 10).
 * @param limit how many at most; bodies are read only for those
 * @returns `more`: how many were left out
 */
export const semanticChanges = async (
  sources: SemanticSources,
  limit: number,
): Promise<{ changes: SemanticChange[]; more?: number }> => {
  const all = diffTrees(sources.from, sources.to).flatMap((change) => draftsOf(sources, change));
  const shown = all.slice(0, limit);
  const bodies = await sources.documents([...new Set(shown.flatMap((draft) => draft.documents))]);
  const changes = shown.flatMap((draft) => draft.build((id) => (id === undefined ? undefined : bodies.get(id))) ?? []);
  return { changes, ...(all.length > shown.length ? { more: all.length - shown.length } : {}) };
};

const plain = (change: SemanticChange): Draft[] => [{ documents: [], build: () => change }];

const draftsOf = (sources: SemanticSources, change: RevisionChange): Draft[] => {
  const { from, to, presentFile } = sources;
  switch (change.kind) {
    case 'page_inserted':
      return plain({ type: 'page_created', page: pageIn(to, change.page) });
    case 'page_deleted':
      return deletedBelow(from, to, change.pageId).flatMap((page) =>
        plain({ type: 'page_deleted', page: pageIn(from, page) }),
      );
    case 'page_moved':
      return moved(from, to, change.pageId);
    case 'page_edited':
      return edited(from.page(change.pageId), to.page(change.pageId), to);
    case 'file_put': {
      const before = from.file(change.file.id);
      if (before === undefined) return plain({ type: 'file_created', file: shortFile(presentFile(change.file)) });
      return plain(editedFile(presentFile(before), presentFile(change.file)));
    }
    case 'file_deleted': {
      const file = from.file(change.fileId);
      return file === undefined ? [] : plain({ type: 'file_deleted', file: shortFile(presentFile(file)) });
    }
    case 'reusable_content_put':
      return content(from.reusableContent(change.content.id), change.content);
    case 'reusable_content_deleted': {
      const gone = from.reusableContent(change.contentId);
      return gone === undefined ? [] : plain({ type: 'reusable_content_deleted', reusableContent: shortContent(gone) });
    }
    case 'variables_set':
      return plain({ type: 'variables_edited', variables: changedVariables(from.variables, to.variables) });
  }
};

const pageIn = (tree: RevisionTree, page: PageNode): ChangedPage => ({
  id: page.id,
  type: page.type,
  title: page.metadata.title,
  ...(page.type === 'link' ? {} : { path: tree.pathOf(page.id) }),
});

/** A deleted page and what went with it. What was deleted below a page that stays has a change of its own. */
const deletedBelow = (from: RevisionTree, to: RevisionTree, pageId: string): readonly PageNode[] => {
  const gone: PageNode[] = [];
  const left = [pageId];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const page = from.page(id);
    if (page === undefined || to.page(id) !== undefined) continue;
    gone.push(page);
    left.push(...from.children(id).toReversed());
  }
  return gone;
};

const moved = (from: RevisionTree, to: RevisionTree, pageId: string): Draft[] => {
  const [before, after] = [from.page(pageId), to.page(pageId)];
  if (before === undefined || after === undefined) return [];
  const parent = (tree: RevisionTree, id: string | null) => {
    const page = id === null ? undefined : tree.page(id);
    return page === undefined ? undefined : pageIn(tree, page);
  };
  return plain({
    type: 'page_moved',
    page: pageIn(to, after),
    parent: pairOf(parent(from, before.parent), parent(to, after.parent)),
  });
};

/** Both sides, without those that are not there. */
const pairOf = <T>(before: T | undefined, after: T | undefined): Change<T> => ({
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
});

/** The attribute as a field, when its two sides differ. */
const attribute = <K extends string, T>(
  name: K,
  before: T | undefined,
  after: T | undefined,
): { [P in K]?: Change<T> } =>
  isDeepStrictEqual(before, after) ? {} : ({ [name]: pairOf(before, after) } as { [P in K]?: Change<T> });

const edited = (before: PageNode | undefined, after: PageNode | undefined, to: RevisionTree): Draft[] => {
  if (before === undefined || after === undefined) return [];
  const otherBody = before.documentId !== after.documentId;
  const [old, now] = [before.metadata, after.metadata];
  const isDocument = after.type === 'document';
  const attributes = (body: (id: string | undefined) => JSONDocument | undefined): PageAttributeChanges => ({
    ...attribute('title', old.title, now.title),
    ...attribute('emoji', old.emoji, now.emoji),
    ...(after.type === 'link' ? attribute('target', before.target, after.target) : {}),
    ...(after.type === 'link' ? {} : attribute('slug', old.slug, now.slug)),
    ...(isDocument ? attribute('description', old.description, now.description) : {}),
    ...(isDocument && otherBody ? attribute('document', body(before.documentId), body(after.documentId)) : {}),
    ...(isDocument ? attribute('cover', plainRecord(old.cover), plainRecord(now.cover)) : {}),
    ...(isDocument ? attribute('layout', plainRecord(old.layout), plainRecord(now.layout)) : {}),
    ...(isDocument ? attribute('variables', plainRecord(old.variables), plainRecord(now.variables)) : {}),
  });
  const build: Draft['build'] = (body) => {
    const named = attributes(body);
    if (Object.keys(named).length === 0) return undefined;
    return { type: 'page_edited', page: pageIn(to, after), attributes: named };
  };
  // The time of the last edit, and attributes that the reference does not list, say nothing here.
  if (!(isDocument && otherBody)) return build(() => undefined) === undefined ? [] : [{ documents: [], build }];
  return [{ documents: [before.documentId, after.documentId].flatMap((id) => id ?? []), build }];
};

const plainRecord = (value: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> | undefined =>
  value === undefined ? undefined : { ...value };

type PresentedFile = ReturnType<SemanticSources['presentFile']>;

const shortFile = ({ id, name, contentType, downloadURL }: PresentedFile): ChangedFile => ({
  id,
  name,
  contentType,
  downloadURL,
});

const editedFile = (before: PresentedFile, after: PresentedFile): SemanticChange => ({
  type: 'file_edited',
  file: shortFile(after),
  attributes: {
    ...attribute('name', before.name, after.name),
    ...attribute('downloadURL', before.downloadURL, after.downloadURL),
    ...attribute('size', before.size, after.size),
    ...attribute('contentType', before.contentType, after.contentType),
    ...attribute(
      'dimensions',
      before.dimensions && { ...before.dimensions },
      after.dimensions && { ...after.dimensions },
    ),
  },
});

const shortContent = ({ id, title, documentId }: ReusableContentNode) => ({
  id,
  title,
  ...(documentId === undefined ? {} : { document: documentId }),
});

const content = (before: ReusableContentNode | undefined, after: ReusableContentNode): Draft[] => {
  const reusableContent = shortContent(after);
  if (before === undefined) return plain({ type: 'reusable_content_created', reusableContent });
  const otherBody = before.documentId !== after.documentId;
  return [
    {
      documents: otherBody ? [before.documentId, after.documentId].flatMap((id) => id ?? []) : [],
      build: (body) => ({
        type: 'reusable_content_edited',
        reusableContent,
        attributes: {
          ...attribute('title', before.title, after.title),
          ...(otherBody ? attribute('document', body(before.documentId), body(after.documentId)) : {}),
        },
      }),
    },
  ];
};

const changedVariables = (
  before: RevisionTree['variables'],
  after: RevisionTree['variables'],
): Record<string, Change<string | number | boolean>> => {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const value = (of: RevisionTree['variables'], name: string) => (Object.hasOwn(of, name) ? of[name] : undefined);
  return Object.fromEntries(
    [...names]
      .filter((name) => value(before, name) !== value(after, name))
      .map((name) => [name, pairOf(value(before, name), value(after, name))]),
  );
};
