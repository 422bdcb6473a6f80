import type { fileOperations } from '@bindery/contracts';
import {
  type CursorCodec,
  type HandlersFor,
  listIdentity,
  notFound,
  type OperationContext,
} from '@bindery/service-kit';
import type { Locate, RevisionParams } from '../../pages/index.ts';
import type { FileNode, Tree } from '../../revisions/index.ts';
import type { FileLinks } from '../links.ts';

export interface FileRouteDeps {
  readonly locate: Locate;
  readonly links: FileLinks;
  readonly cursors: CursorCodec;
}

const defaultLimit = 50;
const sorted = new WeakMap<Tree, readonly FileNode[]>();

/** By id, which a file keeps whatever it is called: a cursor stays good while files come and go. */
const byId = (a: FileNode, b: FileNode): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
const filesOf = (tree: Tree): readonly FileNode[] => {
  const known = sorted.get(tree);
  if (known) return known;
  const files = [...tree.files()].sort(byId);
  sorted.set(tree, files);
  return files;
};

/** Index of the first file after an id. */
const indexAfter = (files: readonly FileNode[], id: string): number => {
  let low = 0;
  let high = files.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((files[middle]?.id ?? '') <= id) low = middle + 1;
    else high = middle;
  }
  return low;
};

/** Handlers of the reads of files. */
export const createFileHandlers = ({ locate, links, cursors }: FileRouteDeps): HandlersFor<typeof fileOperations> => {
  const list =
    (operationId: string) =>
    async (
      context: OperationContext,
      { params, query }: { params: RevisionParams; query: { page?: string; limit?: number } },
    ) => {
      const { spaceId, tree } = await locate.tree(context, params);
      const identity = listIdentity(operationId, { ...params });
      const [after] = query.page === undefined ? [] : cursors.decode(identity, query.page);
      const files = filesOf(tree);
      const start = typeof after === 'string' ? indexAfter(files, after) : 0;
      const items = files.slice(start, start + (query.limit ?? defaultLimit));
      const last = items.at(-1);
      const more = last !== undefined && start + items.length < files.length;
      const body = {
        ...(more ? { next: { page: cursors.encode(identity, [last.id]) } } : {}),
        count: files.length,
        items: items.map((file) => links.represent(context.baseUrl, spaceId, file)),
      };
      return { status: 200 as const, body };
    };
  const get = async (context: OperationContext, { params }: { params: RevisionParams & { fileId: string } }) => {
    const { spaceId, revisionId, tree } = await locate.tree(context, params);
    const file = tree.file(params.fileId);
    if (file === undefined) throw notFound('file');
    return { status: 200 as const, body: links.represent(context.baseUrl, spaceId, file), etag: revisionId };
  };
  return {
    listFiles: list('listFiles'),
    getFileById: get,
    listFilesInRevisionById: list('listFilesInRevisionById'),
    getFileInRevisionById: get,
    listFilesInChangeRequestById: list('listFilesInChangeRequestById'),
    getFileInChangeRequestById: get,
  };
};
