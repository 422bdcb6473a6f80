import type { AnyBlock, ContentRef, Inline, JSONDocument, Phrasing, TableValue } from '@bindery/contracts/document';
import type { LinkContext } from '../markdown/parse/context.ts';
import { childBlocks, fragmentsOf, phrasingOf } from '../model/children.ts';

/** One place in a document that points at something. */
export interface Reference {
  readonly ref: ContentRef;
  /** Key of the innermost block that has one. */
  readonly blockKey?: string;
  readonly context: LinkContext;
}

type Change = (ref: ContentRef, context: LinkContext, blockKey: string | undefined) => ContentRef;

/** The properties of `data` that hold references, by node type. */
const contexts: Readonly<Record<string, LinkContext>> = {
  image: 'image',
  'inline-image': 'image',
  file: 'file',
  drawing: 'file',
  swagger: 'file',
  'content-ref': 'page',
  mention: 'page',
  'reusable-content': 'reusable-content',
};

function changeData<T>(type: string, data: T, key: string | undefined, change: Change): T {
  if (data === null || typeof data !== 'object') return data;
  const copy: Record<string, unknown> = { ...(data as object) };
  const context = contexts[type] ?? 'link';
  for (const name of ['ref', 'refDark']) {
    const ref = copy[name] as ContentRef | undefined;
    if (ref !== undefined) copy[name] = change(ref, context, key);
  }
  if (type === 'update' && Array.isArray(copy.tags))
    copy.tags = (copy.tags as ContentRef[]).map((tag) => change(tag, 'link', key));
  if (type === 'embed' && typeof copy.url === 'string') {
    const ref = change({ kind: 'url', url: copy.url }, 'link', key);
    if (ref.kind === 'url') copy.url = ref.url;
  }
  return copy as T;
}

function changeValue(value: TableValue, key: string | undefined, change: Change): TableValue {
  if (Array.isArray(value))
    return value.map((one) => (typeof one === 'string' ? one : changeValue(one, key, change))) as TableValue;
  if (value === null || typeof value !== 'object') return value;
  return 'kind' in value ? change(value, 'link', key) : { ...value, ref: change(value.ref, 'image', key) };
}

function changePhrasing(nodes: readonly Phrasing[], key: string | undefined, change: Change): Phrasing[] {
  return nodes.map((node): Phrasing => {
    if (node.object === 'text') return node;
    const copy = { ...node } as Inline;
    if ('data' in copy && copy.data !== undefined)
      Object.assign(copy, { data: changeData(copy.type, copy.data, key, change) });
    if (copy.type === 'link') copy.nodes = changePhrasing(copy.nodes, key, change);
    if (copy.type === 'annotation') {
      copy.nodes = changePhrasing(copy.nodes, key, change);
      copy.fragments = copy.fragments.map((part) => ({
        ...part,
        nodes: part.nodes.map((one) => changeBlock(one, key, change)),
      }));
    }
    return copy;
  });
}

function changeBlock<T extends AnyBlock>(block: T, outer: string | undefined, change: Change): T {
  const key = block.key ?? outer;
  const copy: T = { ...block };
  if ('data' in copy && copy.data !== undefined)
    Object.assign(copy, { data: changeData(copy.type, copy.data, key, change) });
  if (copy.type === 'table') {
    const records = Object.entries(copy.data.records).map(([id, record]) => {
      const values = Object.entries(record.values).map(([column, value]) => [column, changeValue(value, key, change)]);
      return [id, { ...record, values: Object.fromEntries(values) }];
    });
    Object.assign(copy, { data: { ...copy.data, records: Object.fromEntries(records) } });
  }
  const phrasing = phrasingOf(block);
  const children = childBlocks(block);
  const fragments = fragmentsOf(block);
  if (phrasing.length > 0) Object.assign(copy, { nodes: changePhrasing(phrasing, key, change) });
  if (children.length > 0) Object.assign(copy, { nodes: children.map((child) => changeBlock(child, key, change)) });
  if (fragments.length > 0)
    Object.assign(copy, {
      fragments: fragments.map((part) => ({
        ...part,
        nodes: part.nodes.map((child) => changeBlock(child, key, change)),
      })),
    });
  return copy;
}

/**
 * Replaces references, in reading order; keys and everything else stay. Embeds offer their address as a `url` reference and
 * take only such a one back.
 */
export function mapReferences(document: JSONDocument, change: Change): JSONDocument {
  return { ...document, nodes: document.nodes.map((block) => changeBlock(block, undefined, change)) };
}

/** Everything a document points at, in reading order. */
export function extractReferences(document: JSONDocument): Reference[] {
  const found: Reference[] = [];
  mapReferences(document, (ref, context, blockKey) => {
    found.push({ ref, context, ...(blockKey === undefined ? {} : { blockKey }) });
    return ref;
  });
  return found;
}
