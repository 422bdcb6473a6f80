import type { JSONDocument } from '@bindery/contracts';
import { invalid } from '@bindery/service-kit';
import type { CommentDeps } from './deps.ts';
import type { CommentTarget } from './events.ts';
import type { Place } from './place.ts';

/** What a request says a comment is about. */
export interface GivenTarget {
  readonly page?: string;
  readonly node?: string;
  readonly tableCell?: { readonly record: string; readonly definition: string };
}

interface AnyNode {
  readonly key?: string;
  readonly type?: string;
  readonly data?: { readonly records?: unknown; readonly definition?: unknown };
  readonly nodes?: readonly AnyNode[];
  readonly fragments?: readonly AnyNode[];
}

/** Every node of a document, whatever its depth. */
function* nodesOf(document: JSONDocument): Generator<AnyNode> {
  const open: AnyNode[] = [document as AnyNode];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    for (const inner of node.nodes ?? []) open.push(inner);
    for (const inner of node.fragments ?? []) open.push(inner);
  }
}

const hasCell = ({ type, data }: AnyNode, { record, definition }: NonNullable<GivenTarget['tableCell']>): boolean =>
  type === 'table' &&
  Object.hasOwn(Object(data?.records), record) &&
  Object.hasOwn(Object(data?.definition), definition);

/**
 * Checks that what a comment is about is in the revision that it is posted on.
 * @throws Problem invalid, naming the field
 */
export const readTarget = async (
  { reader }: Pick<CommentDeps, 'reader'>,
  { spaceId, changeRequestId, revision }: Pick<Place, 'spaceId' | 'changeRequestId' | 'revision'>,
  { page: pageId, node, tableCell }: GivenTarget,
): Promise<CommentTarget> => {
  if (pageId === undefined) {
    if (node !== undefined) throw invalid('comment.page_needed', 'body.node: is in a page, which body.page must name');
    if (tableCell !== undefined)
      throw invalid('comment.page_needed', 'body.tableCell: is in a page, which body.page must name');
    return { revision };
  }
  const appended = changeRequestId === undefined ? undefined : { changeRequestId };
  const page = (await reader.tree(spaceId, revision, appended)).page(pageId);
  if (page === undefined) throw invalid('comment.no_page', 'body.page: is no page of this content');
  const target = { revision, pageId };
  if (node === undefined && tableCell === undefined) return target;
  const { documentId } = page;
  const documents =
    documentId === undefined
      ? undefined
      : await (appended ? reader.bodies(spaceId, [documentId], appended) : reader.documents(spaceId, [documentId]));
  const document = documents?.get(documentId ?? '');
  const nodes = document === undefined ? [] : [...nodesOf(document)];
  const named = node === undefined ? nodes : nodes.filter(({ key }) => key === node);
  if (named.length === 0 && node !== undefined) throw invalid('comment.no_node', 'body.node: is no block of this page');
  if (tableCell !== undefined && !named.some((it) => hasCell(it, tableCell)))
    throw invalid('comment.no_cell', 'body.tableCell: is no cell of a table there');
  return { ...target, ...(node === undefined ? {} : { node }), ...(tableCell === undefined ? {} : { tableCell }) };
};
