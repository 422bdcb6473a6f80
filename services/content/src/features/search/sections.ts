import type { JSONDocument } from '@bindery/contracts';
import type { SearchSection } from '@bindery/search';

/** Any node, for code that only looks for text. */
interface LooseNode {
  readonly object?: string;
  readonly type?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly nodes?: readonly LooseNode[];
  readonly leaves?: readonly { readonly text: string }[];
  readonly fragments?: readonly { readonly nodes: readonly LooseNode[] }[];
}

const phrasing = new Set(['paragraph', 'heading-1', 'heading-2', 'heading-3', 'code-line']);

const inlineText = (node: LooseNode): string => {
  if (node.leaves) return node.leaves.map((leaf) => leaf.text).join('');
  if (node.type === 'inline-math') return String(node.data?.formula ?? '');
  if (node.type === 'button') return String(node.data?.label ?? '');
  if (node.type === 'inline-image') return String(node.data?.alt ?? node.data?.caption ?? '');
  return (node.nodes ?? []).map(inlineText).join('');
};

/** Text that a block has in its data rather than in nodes. */
const dataText = (node: LooseNode): readonly string[] => {
  const data = node.data ?? {};
  switch (node.type) {
    case 'code':
    case 'tabs-item':
    case 'openapi-schemas':
      return typeof data.title === 'string' ? [data.title] : [];
    case 'math':
      return [String(data.formula ?? '')];
    case 'prompt':
      return [String(data.description ?? '')];
    case 'image':
      return typeof data.alt === 'string' ? [data.alt] : [];
    case 'table':
      return tableText(data);
    default:
      return [];
  }
};

/** Headers and plain cells; cells with rich text are fragments. */
const tableText = (data: Readonly<Record<string, unknown>>): readonly string[] => {
  const { definition = {}, records = {} } = data as {
    definition?: Readonly<Record<string, { readonly title?: string }>>;
    records?: Readonly<Record<string, { readonly values?: Readonly<Record<string, unknown>> }>>;
  };
  const cells = Object.values(records).flatMap((record) => Object.values(record.values ?? {}));
  return [
    ...Object.values(definition).map((column) => column.title ?? ''),
    ...cells.filter((cell) => typeof cell === 'string' || typeof cell === 'number').map(String),
  ];
};

/** Blocks with text of their own, in reading order. */
function* textBlocks(nodes: readonly LooseNode[]): Generator<LooseNode> {
  for (const node of nodes) {
    yield node;
    if (!phrasing.has(node.type ?? '')) yield* textBlocks(node.nodes ?? []);
    for (const fragment of node.fragments ?? []) yield* textBlocks(fragment.nodes);
    // Footnotes hang on inlines.
    if (phrasing.has(node.type ?? ''))
      for (const inline of node.nodes ?? [])
        for (const fragment of inline.fragments ?? []) yield* textBlocks(fragment.nodes);
  }
}

/** The anchor of a heading that has none of its own. */
const anchorOf = (title: string): string =>
  title
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100);

/** Number of `#` of a heading in markdown: a page's title has the first level. */
const levelOf = (node: LooseNode): number =>
  typeof node.data?.level === 'number' ? node.data.level : Number(node.type?.at(-1)) + 1;

/** A document as the index takes it: the text before the first heading, then each heading with the text below it. */
export const sectionsOf = (document: JSONDocument): readonly SearchSection[] => {
  const sections: { id: string; title: string; level: number; lines: string[] }[] = [];
  const anchors = new Map<string, number>();
  let current = { id: '', title: '', level: 1, lines: [] as string[] };
  for (const node of textBlocks(document.nodes as unknown as readonly LooseNode[])) {
    if (node.type?.startsWith('heading-')) {
      const title = inlineText(node).trim();
      const anchor = typeof node.data?.id === 'string' ? node.data.id : anchorOf(title);
      const times = anchors.get(anchor) ?? 0;
      anchors.set(anchor, times + 1);
      sections.push(current);
      current = { id: times === 0 ? anchor : `${anchor}-${times}`, title, level: levelOf(node), lines: [] };
      continue;
    }
    const text = phrasing.has(node.type ?? '') ? [inlineText(node)] : dataText(node);
    current.lines.push(...text.filter((line) => line.trim() !== ''));
  }
  sections.push(current);
  return sections
    .filter((section) => section.title !== '' || section.lines.length > 0)
    .map(({ id, title, level, lines }) => ({ id, title, level, text: lines.join('\n') }));
};
