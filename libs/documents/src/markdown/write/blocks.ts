import type { AnyBlock, Block, Code, List, ListItem, Phrasing } from '@bindery/contracts/document';
import { isPart } from '../../model/build.ts';
import { writeCode } from './code.ts';
import type { WriteContext } from './context.ts';
import { writeHtmlInlines } from './html-inlines.ts';
import { writeImages } from './images.ts';
import { writeInlines } from './inlines.ts';
import { writeTable } from './tables.ts';
import { writeTagBlock } from './tag-blocks.ts';

/** Writes blocks below one another. */
export function writeBlocks(blocks: readonly AnyBlock[], context: WriteContext, tight = false): string {
  let out = '';
  let previous: AnyBlock | undefined;
  let alternate = false;
  for (const block of blocks) {
    alternate = previous !== undefined && sameFamily(previous, block) && !alternate;
    const written = writeBlock(block, context, { alternate, joined: tight && previous?.type === 'paragraph' });
    if (written === '') continue;
    if (previous !== undefined) out += tight && joins(previous, block, context) ? '\n' : '\n\n';
    out += written;
    previous = block;
  }
  return out;
}

const family = (block: AnyBlock): string =>
  block.type === 'list-tasks' || block.type === 'list-unordered'
    ? 'bullets'
    : block.type === 'list-ordered'
      ? 'numbers'
      : '';

const sameFamily = (one: AnyBlock, other: AnyBlock): boolean => family(one) !== '' && family(one) === family(other);

/** Whether a block ends a paragraph of any container before it. */
const interrupts = (block: AnyBlock, context: WriteContext): boolean =>
  block.type.startsWith('heading-') || (block.type === 'code' && writeCode(block, context).startsWith('```'));

/** Whether a block may follow another without a blank line, and is still read as a block of its own. */
function joins(previous: AnyBlock, block: AnyBlock, context: WriteContext): boolean {
  const open = previous.type === 'blockquote' || previous.type === 'table' || family(previous) !== '';
  if (open) return interrupts(block, context);
  if (block.type === 'paragraph') return previous.type !== 'paragraph';
  if (block.type === 'list-ordered' && previous.type === 'paragraph') return (block.data?.start ?? 1) === 1;
  return previous.type !== block.type;
}

interface Place {
  /** The list before this one has the same marker: use the other. */
  alternate: boolean;
  /** A paragraph ends on the line before. */
  joined: boolean;
}

function writeBlock(block: AnyBlock, context: WriteContext, place: Place): string {
  switch (block.type) {
    case 'paragraph':
      if (block.data?.align !== undefined)
        return aligned('p', block.data.align, writeHtmlInlines(block.nodes, context));
      return comment(block) ?? writeInlines(block.nodes, context);
    case 'heading-1':
    case 'heading-2':
    case 'heading-3':
      return writeHeading(block, context);
    case 'list-ordered':
    case 'list-unordered':
    case 'list-tasks':
      return writeList(block, context, place.alternate);
    case 'list-item':
      return writeBlocks(block.nodes, context);
    case 'divider':
      return place.joined && (context.style.divider ?? '*').startsWith('-') ? '***' : (context.style.divider ?? '***');
    case 'blockquote':
      return prefixed(writeBlocks(block.nodes, context), '> ');
    case 'math':
      return `$$\n${block.data.formula}\n$$`;
    case 'images':
      return writeImages(block, context);
    case 'image':
      return writeImages({ object: 'block', type: 'images', isVoid: false, data: {}, nodes: [block] }, context);
    case 'table':
      return writeTable(block, context);
    case 'code':
      return writeCode(block, context);
    case 'code-line':
      return writeCode(codeOf([block]), context);
    case 'expandable':
      return writeExpandable(block, context);
    default:
      return writeTagBlock(block, context);
  }
}

const codeOf = (nodes: Code['nodes']): Code => ({ object: 'block', type: 'code', data: {}, nodes });

const sides = { start: 'left', center: 'center', end: 'right' } as const;
const aligned = (name: string, align: keyof typeof sides, inner: string): string =>
  `<${name} align="${sides[align]}">${inner}</${name}>`;

/** A paragraph that is an HTML comment is written as it is. */
function comment(block: Block & { type: 'paragraph' }): string | undefined {
  const [only] = block.nodes;
  if (block.nodes.length !== 1 || only?.object !== 'text' || only.leaves.length !== 1) return undefined;
  const [leaf] = only.leaves;
  if (leaf === undefined || leaf.marks.length > 0) return undefined;
  return /^<!--(?!-?>)(?:[^-]|-[^-]|--[^>])*-->$/.test(leaf.text) && !/\n[ \t\n]/.test(leaf.text)
    ? leaf.text
    : undefined;
}

const depths = { 'heading-1': 2, 'heading-2': 3, 'heading-3': 4 } as const;

function writeHeading(block: Block & { type: keyof typeof depths }, context: WriteContext): string {
  const depth = block.data?.level ?? depths[block.type];
  const id = block.data?.id;
  if (block.data?.align !== undefined) {
    const inner = writeHtmlInlines(block.nodes, context);
    return aligned(
      `h${depth}`,
      block.data.align,
      id === undefined ? inner : `${inner}<a href="#${id}" id="${id}"></a>`,
    );
  }
  const text = writeHeadingText(block.nodes, context);
  const anchor = id === undefined ? '' : `<a href="#${id}" id="${id}"></a>`;
  return ['#'.repeat(depth), text, anchor].filter((part) => part !== '').join(' ');
}

/** Text of a heading; `#` at its end would be taken for the closing of the heading. */
export const writeHeadingText = (nodes: readonly Phrasing[], context: WriteContext): string =>
  writeInlines(nodes, { ...context, oneLine: true }).replace(/(^|[^\\#])(#+)$/, '$1\\$2');

function prefixed(text: string, prefix: string): string {
  const bare = prefix.trimEnd();
  return text
    .split('\n')
    .map((line) => (line === '' ? bare : prefix + line))
    .join('\n');
}

function indented(text: string, width: number): string {
  return text.replace(/\n(?=[^\n])/g, `\n${' '.repeat(width)}`);
}

function writeList(list: List, context: WriteContext, alternate: boolean): string {
  const loose = list.data?.loose === true;
  const { bullet = '*', delimiter = '.', numbering } = context.style;
  const otherBullet = bullet === '-' ? '*' : '-';
  const otherDelimiter = delimiter === '.' ? ')' : '.';
  const start = Math.max(0, Math.trunc(list.data?.start ?? 1));
  const items = list.nodes.map((item, index) => {
    const marker =
      list.type === 'list-ordered'
        ? `${Math.min(999_999_999, numbering === 'ones' ? start : start + index)}${alternate ? otherDelimiter : delimiter}`
        : alternate
          ? otherBullet
          : bullet;
    return writeItem(item, list, marker, loose, context);
  });
  return items.join(loose ? '\n\n' : '\n');
}

function writeItem(item: ListItem, list: List, marker: string, loose: boolean, context: WriteContext): string {
  const task = list.type === 'list-tasks' ? (item.data?.checked === true ? '[x]' : '[ ]') : undefined;
  let nodes: readonly Block[] = item.nodes;
  let head = '';
  if (task !== undefined) {
    const [first, ...rest] = nodes;
    const text = first?.type === 'paragraph' ? writeBlocks([first], context) : '';
    head = text === '' ? task : `${task} ${text}`;
    nodes = first?.type === 'paragraph' ? rest : nodes;
  }
  // A divider made of the bullet's own character would be read as one divider with the bullet.
  const [first] = nodes;
  if (task === undefined && first?.type === 'divider' && (context.style.divider ?? '*').startsWith(marker))
    head = writeBlocks([first], { ...context, style: { ...context.style, divider: '___' } });
  const rest = head === '' ? nodes : task === undefined ? nodes.slice(1) : nodes;
  const body = writeBlocks(rest, context, !loose);
  const content = head === '' ? body : body === '' ? head : `${head}${loose ? '\n\n' : '\n'}${body}`;
  return content === '' ? marker : `${marker} ${indented(content, marker.length + 1)}`;
}

function writeExpandable(block: Block & { type: 'expandable' }, context: WriteContext): string {
  const part = (name: string): readonly Block[] => block.fragments.find((one) => isPart(one, name))?.nodes ?? [];
  const title = part('expandable-title')
    .map((node) => ('nodes' in node && node.type === 'paragraph' ? writeHtmlInlines(node.nodes, context) : ''))
    .join(' ');
  const body = writeBlocks(part('expandable-body'), context);
  const open = block.data.defaultExpanded === true ? '<details open>' : '<details>';
  return [open, `<summary>${title}</summary>`, ...(body === '' ? [] : [body]), '</details>'].join('\n\n');
}
