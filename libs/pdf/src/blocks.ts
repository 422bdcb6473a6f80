import type { AnyBlock, Block, Fragment, Phrasing } from '@bindery/contracts/document';
import { ownText, slugify } from '@bindery/documents';
import { colors, type Paper, type Piece } from './paper.ts';
import { type LinkTo, pieces } from './phrasing.ts';
import { drawTable } from './table.ts';

/** What blocks are written with. */
export interface BlockScope {
  readonly paper: Paper;
  readonly linkTo: LinkTo;
  readonly image: (fileId: string) => Uint8Array | undefined;
  readonly fileName: (fileId: string) => string | undefined;
  /** Marks a place in the file that links lead to. */
  readonly anchor: (name: string) => void;
}

const headingSizes = { 'heading-1': 17, 'heading-2': 14, 'heading-3': 12 } as const;
const aligned = { start: 'left', center: 'center', end: 'right' } as const;
const bullet = '•';
/** Deeper ones are written at the same distance. */
const maxIndents = 8;

const phrasingIn = (blocks: readonly AnyBlock[], linkTo: LinkTo): readonly Piece[] =>
  blocks.flatMap((block, index) => {
    const own = 'nodes' in block ? (block.nodes as readonly (AnyBlock | Phrasing)[]) : [];
    const words = own.flatMap((node) =>
      node.object === 'block' ? phrasingIn([node], linkTo) : pieces([node], linkTo),
    );
    return index === 0 || words.length === 0 ? words : [{ text: '\n', font: 'regular' } as const, ...words];
  });

export const writeBlocks = (blocks: readonly AnyBlock[], scope: BlockScope, level = 0): void => {
  for (const block of blocks) writeBlock(block, scope, level);
};

const indented = (scope: BlockScope, level: number, write: () => void): void => {
  const by = level < maxIndents ? 16 : 0;
  scope.paper.left += by;
  write();
  scope.paper.left -= by;
};

const writeBlock = (block: AnyBlock, scope: BlockScope, level: number): void => {
  const { paper, linkTo } = scope;
  switch (block.type) {
    case 'paragraph':
      paper.paragraph(pieces(block.nodes, linkTo), { align: aligned[block.data?.align ?? 'start'] });
      return;
    case 'heading-1':
    case 'heading-2':
    case 'heading-3': {
      paper.space(8);
      paper.need(60);
      const { id, align = 'start' } = block.data ?? {};
      scope.anchor(id ?? slugify(ownText(block)));
      paper.paragraph(pieces(block.nodes, linkTo, true), { size: headingSizes[block.type], align: aligned[align] });
      return;
    }
    case 'list-ordered':
    case 'list-unordered':
    case 'list-tasks':
      for (const [index, item] of block.nodes.entries()) {
        paper.need(18);
        const number = block.type === 'list-ordered' ? `${(block.data?.start ?? 1) + index}.` : bullet;
        const y = paper.doc.y;
        const page = paper.pageCount;
        if (block.type === 'list-tasks') drawBox(paper, item.data?.checked === true);
        else paper.paragraph([{ text: number, font: 'regular' }], { width: 40, after: 0 });
        if (paper.pageCount === page) paper.doc.y = y;
        indented(scope, level, () => writeBlocks(item.nodes, scope, level + 1));
      }
      paper.space(2);
      return;
    case 'divider':
      paper.need(20);
      paper.doc
        .save()
        .moveTo(paper.left, paper.doc.y + 4)
        .lineTo(paper.right, paper.doc.y + 4);
      paper.doc.lineWidth(0.5).stroke(colors.rule).restore();
      paper.space(14);
      return;
    case 'blockquote':
      paper.beside(colors.rule, 14, () => writeBlocks(block.nodes, scope, level + 1));
      return;
    case 'hint':
      paper.beside(colors[block.data.style], 14, () => writeBlocks(block.nodes, scope, level + 1));
      return;
    case 'code':
      writeCode(
        paper,
        block.data.title,
        block.nodes.map((line) => line.nodes.map((node) => lineText(node)).join('')),
      );
      return;
    case 'math':
      writeCode(paper, undefined, block.data.formula.split('\n'));
      return;
    case 'images':
      for (const image of block.nodes) writeBlock(image, scope, level);
      return;
    case 'image':
      writeImage(block.data.ref, block.data.alt, scope);
      writeCaption(block.fragments, scope);
      return;
    case 'table':
      writeTable(block, scope);
      return;
    case 'embed':
      paper.paragraph([{ text: block.data.url, font: 'regular', link: block.data.url, underline: true }]);
      writeCaption(block.fragments, scope);
      return;
    case 'file':
    case 'drawing':
    case 'content-ref': {
      const { ref } = block.data;
      if (ref === undefined) return;
      if (block.type === 'drawing') {
        writeImage(ref, undefined, scope);
        return;
      }
      const { link, title } = linkTo(ref);
      const text = title ?? link ?? '';
      if (text !== '') paper.paragraph([{ text, font: 'bold', ...(link === undefined ? {} : { link }) }]);
      writeCaption(block.fragments, scope);
      return;
    }
    case 'expandable':
      for (const fragment of block.fragments ?? []) {
        const isTitle = fragment.fragment === 'expandable-title';
        if (isTitle) {
          paper.need(30);
          paper.paragraph(phrasingIn(fragment.nodes, linkTo).map((piece) => ({ ...piece, font: 'bold' })));
        } else indented(scope, level, () => writeBlocks(fragment.nodes, scope, level + 1));
      }
      return;
    default: {
      const own = ownText(block);
      if (own !== '') paper.paragraph([{ text: own, font: 'bold' }]);
      const inside = 'nodes' in block ? (block.nodes as readonly (AnyBlock | Phrasing)[]) : [];
      const nested = inside.filter((node): node is AnyBlock => node.object === 'block');
      if (nested.length > 0) writeBlocks(nested, scope, level + 1);
      if ('fragments' in block) for (const fragment of block.fragments ?? []) writeBlocks(fragment.nodes, scope, level);
    }
  }
};

const lineText = (node: Phrasing): string =>
  node.object === 'text'
    ? node.leaves.map(({ text }) => text).join('')
    : node.type === 'expression'
      ? `{{${node.data.expression}}}`
      : 'nodes' in node
        ? node.nodes.map(lineText).join('')
        : '';

const drawBox = (paper: Paper, checked: boolean): void => {
  const { doc } = paper;
  const [x, y] = [paper.left, doc.y + 3];
  doc.save().lineWidth(0.8).rect(x, y, 8, 8).stroke(colors.quiet);
  if (checked)
    doc
      .moveTo(x + 1.5, y + 4)
      .lineTo(x + 3.5, y + 6.5)
      .lineTo(x + 7, y + 1.5)
      .lineWidth(1.2)
      .stroke(colors.success);
  doc.restore();
};

const writeCode = (paper: Paper, title: string | undefined, lines: readonly string[]): void => {
  const { doc } = paper;
  if (title !== undefined && title !== '') {
    paper.need(40);
    paper.paragraph([{ text: title, font: 'bold', color: colors.quiet }], { size: 9, after: 2 });
  }
  const [points, inset] = [8.5, 8];
  const width = paper.width - 2 * inset;
  const all = ['', ...lines, ''];
  for (const [index, line] of all.entries()) {
    const edge = index === 0 || index === all.length - 1;
    const text = line.replaceAll('\t', '    ').replace(/^ +/, (spaces) => '\u00a0'.repeat(spaces.length));
    const height = edge ? 5 : paper.heightOf(text, points, width, 'mono') + 0.5;
    paper.need(height);
    doc
      .save()
      .rect(paper.left, doc.y, paper.width, height + 0.3)
      .fill(colors.panel)
      .restore();
    const y = doc.y;
    const page = paper.pageCount;
    if (!edge) paper.paragraph([{ text, font: 'mono' }], { size: points, x: paper.left + inset, width, after: 0 });
    if (paper.pageCount === page) doc.y = y + height;
  }
  paper.space(8);
};

/** Reads a picture before there is a place for it; the type declarations of the library leave it out. */
interface PictureDoc {
  openImage(bytes: Uint8Array): { readonly width: number; readonly height: number };
}

const writeImage = (ref: Parameters<LinkTo>[0], alt: string | undefined, scope: BlockScope): void => {
  const { paper } = scope;
  const bytes = ref.kind === 'file' ? scope.image(ref.file) : undefined;
  const fallback = (): void => {
    const { link, title } = scope.linkTo(ref);
    const text = `[${alt ?? title ?? link ?? 'image'}]`;
    const style = { font: 'italic', color: colors.quiet, ...(link === undefined ? {} : { link }) } as const;
    paper.paragraph([{ text, ...style }]);
  };
  if (bytes === undefined) {
    fallback();
    return;
  }
  try {
    const picture = (paper.doc as unknown as PictureDoc).openImage(bytes);
    const scale = Math.min(0.75, paper.width / picture.width, (paper.bottom - 120) / picture.height);
    const [width, height] = [picture.width * scale, picture.height * scale];
    paper.need(height + 8);
    paper.doc.image(picture as unknown as string, paper.left, paper.doc.y, { width, height });
    paper.doc.y += height;
    paper.space(8);
  } catch {
    // A kind of picture that cannot be drawn here: its words stand for it.
    fallback();
  }
};

const writeCaption = (fragments: readonly Fragment[] | undefined, scope: BlockScope): void => {
  const words = (fragments ?? []).flatMap(({ nodes }) => phrasingIn(nodes, scope.linkTo));
  scope.paper.paragraph(
    words.map((piece) => ({ ...piece, font: 'italic', color: colors.quiet })),
    { size: 9 },
  );
};

type Table = Extract<Block, { type: 'table' }>;

const cellText = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

const writeTable = (table: Table, scope: BlockScope): void => {
  const { view, records, definition } = table.data;
  const fragments = new Map((table.fragments ?? []).map((it) => [it.fragment ?? it.key ?? '', it]));
  const cell = (value: unknown, columnId: string): readonly Piece[] => {
    const fragment = typeof value === 'string' ? fragments.get(value) : undefined;
    if (fragment !== undefined) return phrasingIn(fragment.nodes, scope.linkTo);
    const column = Object.values(definition).find(({ id }) => id === columnId);
    const values = (Array.isArray(value) ? value : [value]) as readonly unknown[];
    const words = values.map((one) => {
      if (typeof one === 'object' && one !== null && 'kind' in one) return scope.linkTo(one as never).title ?? '';
      const option =
        column?.type === 'select'
          ? column.options.find((it: { readonly value: string }) => it.value === one)
          : undefined;
      return option === undefined ? cellText(one) : option.label;
    });
    const text = words.filter((word) => word !== '').join(', ');
    return text === '' ? [] : [{ text, font: 'regular' }];
  };
  const columns = view.columns;
  const head = columns.map((id): readonly Piece[] => {
    const title = Object.values(definition).find((column) => column.id === id)?.title ?? '';
    return title === '' ? [] : [{ text: title, font: 'bold' }];
  });
  const order = Object.values(records).sort((a, b) => (a.orderIndex < b.orderIndex ? -1 : 1));
  const rows = order.map(({ values }) => columns.map((id) => cell(values[id], id)));
  const shown = head.some((it) => it.length > 0) && !('hideHeader' in view && view.hideHeader);
  drawTable(scope.paper, { rows: shown ? [head, ...rows] : rows, head: shown });
};
