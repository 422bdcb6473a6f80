import type { Block, Heading, HeadingData, List, ListItem, Phrasing } from '@bindery/contracts/document';
import type { Token } from 'markdown-it';
import { paragraph, part, plainParagraph, present } from '../../model/build.ts';
import { codeBlock } from './code.ts';
import type { ParseContext } from './context.ts';
import { Cursor } from './cursor.ts';
import type { HtmlElement } from './html.ts';
import { parseHtml } from './html.ts';
import { readHtmlBlock, readHtmlInlines } from './html-blocks.ts';
import { readInlines } from './inlines.ts';
import { readPipeTable } from './pipe-table.ts';
import type { TagSpan } from './scan.ts';
import { noteEmphasis } from './style.ts';
import { readTag } from './tag-blocks.ts';

/** Turns block tokens into blocks. */
export function readBlocks(tokens: readonly Token[], context: ParseContext): Block[] {
  const cursor = new Cursor(tokens);
  const blocks: Block[] = [];
  for (let token = cursor.next(); token !== undefined; token = cursor.next())
    blocks.push(...readBlock(token, cursor, context));
  return blocks;
}

function readBlock(token: Token, cursor: Cursor, context: ParseContext): Block[] {
  switch (token.type) {
    case 'paragraph_open':
      return paragraphOf(cursor.inside(), context);
    case 'heading_open':
      return [headingOf(Number(token.tag.slice(1)), phrasingOf(cursor.inside(), context, true))];
    case 'bullet_list_open':
      if (token.markup === '-' || token.markup === '+') noteStyle(context, 'bullet', token.markup);
      else noteStyle(context, 'bullet', undefined);
      return [listOf(token, cursor.inside(), context)];
    case 'ordered_list_open':
      noteStyle(context, 'delimiter', token.markup === ')' ? ')' : undefined);
      return [listOf(token, cursor.inside(), context)];
    case 'blockquote_open':
      return [{ object: 'block', type: 'blockquote', nodes: readBlocks(cursor.inside(), context) }];
    case 'hr':
      if (token.meta?.firstOfItem !== true)
        noteStyle(context, 'divider', token.markup === '***' || token.markup.length > 80 ? undefined : token.markup);
      return [{ object: 'block', type: 'divider', isVoid: true }];
    case 'fence':
      return [codeBlock(token.content.replace(/\n$/, ''), { syntax: token.info.trim() })];
    case 'code_block':
      return [codeBlock(token.content.replace(/\n+$/, ''), {})];
    case 'math':
      return [{ object: 'block', type: 'math', data: { formula: token.content }, isVoid: true }];
    case 'table_open':
      return [readPipeTable(token, cursor.inside(), context)];
    case 'html_element':
      return readHtmlBlock((token.meta as { root: HtmlElement }).root, context);
    case 'details_open':
      return [expandableOf(token.meta as { open: boolean; title: string }, cursor.inside(), context)];
    case 'tag_open':
      return readTag((token.meta as { span: TagSpan }).span, cursor.inside(), context);
    // Both are read before, and stand at the end when nothing refers to them.
    case 'footnote_open':
      cursor.inside();
      return [];
    case 'reference_definition':
      return [];
    default:
      return token.content === '' ? [] : [plainParagraph(token.content)];
  }
}

/** Remembers how something is written the first time it occurs. */
export function noteStyle<K extends keyof ParseContext['style']>(
  context: ParseContext,
  name: K,
  value: ParseContext['style'][K],
): void {
  if (context.seenStyles.has(name)) return;
  context.seenStyles.add(name);
  if (value !== undefined) context.style[name] = value;
}

function phrasingOf(tokens: readonly Token[], context: ParseContext, oneLine = false): Phrasing[] {
  const children = tokens.find((token) => token.type === 'inline')?.children ?? [];
  noteEmphasis(children, context);
  return readInlines(children, context, oneLine);
}

function paragraphOf(tokens: readonly Token[], context: ParseContext): Block[] {
  const inline = tokens.find((token) => token.type === 'inline');
  const children = inline?.children ?? [];
  const [only] = children;
  if (only?.type === 'image' && children.length === 1) return [imageBlock(only, context)];
  // A comment is kept as it stands; as HTML it is invisible wherever the markdown is rendered.
  if (only?.type === 'html_inline' && children.length === 1 && only.content.startsWith('<!--'))
    return [plainParagraph(only.content)];
  const nodes = phrasingOf(tokens, context);
  return nodes.length === 0 ? [] : [paragraph(nodes)];
}

/** `![alt](address "caption")` alone in a paragraph is an image of its own, without `<figcaption>`. */
function imageBlock(token: Token, context: ParseContext): Block {
  const [image] = readInlines([token], context);
  if (image?.object !== 'inline' || image.type !== 'inline-image') return paragraph(image === undefined ? [] : [image]);
  const { ref, alt, caption } = image.data;
  return {
    object: 'block',
    type: 'images',
    isVoid: false,
    data: {},
    nodes: [
      {
        object: 'block',
        type: 'image',
        isVoid: true,
        data: { ref, ...present<{ alt?: string }>({ alt }) },
        ...(caption === undefined ? {} : { fragments: [part('caption', [plainParagraph(caption)])] }),
      },
    ],
  };
}

const levels = {
  1: 'heading-1',
  2: 'heading-1',
  3: 'heading-2',
  4: 'heading-3',
  5: 'heading-3',
  6: 'heading-3',
} as const;
const anchor = /<a [^>]*><\/a>\s*$/;

/**
 * A heading. `##` is the first level below the page's title, hence heading-1; other depths than `##` to `####` are kept in
 * `level`. A trailing `<a href="#id" id="id"></a>` is the heading's anchor.
 */
export function headingOf(depth: number, nodes: Phrasing[], align?: HeadingData['align']): Heading {
  const level = depth === 1 || depth === 5 || depth === 6 ? depth : undefined;
  const { id, rest } = takeAnchor(nodes);
  const data = present<HeadingData>({ id, align, level });
  return {
    object: 'block',
    type: levels[depth as keyof typeof levels] ?? 'heading-3',
    ...(Object.keys(data).length === 0 ? {} : { data }),
    nodes: rest,
  };
}

function takeAnchor(nodes: Phrasing[]): { id?: string; rest: Phrasing[] } {
  const last = nodes.at(-1);
  const leaf = last?.object === 'text' ? last.leaves.at(-1) : undefined;
  if (last?.object !== 'text' || leaf === undefined) return { rest: nodes };
  const match = anchor.exec(leaf.text);
  if (match === null) return { rest: nodes };
  const id = / id="([-a-z0-9.+_]+)"/.exec(match[0])?.[1];
  if (id === undefined || id.length > 256) return { rest: nodes };
  const cut = leaf.text.slice(0, match.index).trimEnd();
  const leaves = cut === '' ? last.leaves.slice(0, -1) : [...last.leaves.slice(0, -1), { ...leaf, text: cut }];
  return { id, rest: leaves.length === 0 ? nodes.slice(0, -1) : [...nodes.slice(0, -1), { ...last, leaves }] };
}

const needsBlankLine = /^(?:list-|blockquote|table)/;
const task = /^\[([ xX])\](?=\s|$)\s?/;

function listOf(open: Token, tokens: readonly Token[], context: ParseContext): List {
  const cursor = new Cursor(tokens);
  const contents: Token[][] = [];
  const numbers: string[] = [];
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    numbers.push(token.info);
    const inside = cursor.inside();
    // A divider right after the bullet may have to be written in another way than the author's.
    if (inside[0]?.type === 'hr') inside[0].meta = { firstOfItem: true };
    contents.push(inside);
  }
  const ordered = open.type === 'ordered_list_open';
  if (ordered && numbers.length > 1) noteStyle(context, 'numbering', numbers[1] === numbers[0] ? 'ones' : undefined);
  const marks = ordered ? [] : contents.map(taskMark);
  const tasks = marks.length > 0 && marks.every((mark) => mark !== undefined);
  const items = contents.map((inside, index): ListItem => {
    const checked = tasks ? marks[index] : undefined;
    return {
      object: 'block',
      type: 'list-item',
      ...(checked === undefined ? {} : { data: { checked } }),
      nodes: readBlocks(checked === undefined ? inside : withoutTaskMark(inside), context),
    };
  });
  // A paragraph after a list, quote or table of its item needs a blank line when it is written, which makes the list loose.
  const apart = items.some((item) =>
    item.nodes.some(
      (node, index) => node.type === 'paragraph' && needsBlankLine.test(item.nodes[index - 1]?.type ?? ''),
    ),
  );
  const tight =
    !apart &&
    contents.some((inside) =>
      inside.some((token) => token.type === 'paragraph_open' && token.hidden && token.level === open.level + 2),
    );
  // Only recorded where blank lines can show it again.
  const shows = items.length > 1 || items.some((item) => item.nodes.length > 1);
  const loose = !tight && shows && items.some((item) => item.nodes.some((node) => node.type === 'paragraph'));
  const start = Number(open.attrGet('start') ?? 1);
  const data = present<{ start?: number; loose?: boolean }>({
    start: ordered && start !== 1 ? start : undefined,
    loose: loose ? true : undefined,
  });
  return {
    object: 'block',
    type: ordered ? 'list-ordered' : tasks ? 'list-tasks' : 'list-unordered',
    ...(Object.keys(data).length === 0 ? {} : { data }),
    nodes: items,
  };
}

function taskMark(inside: readonly Token[]): boolean | undefined {
  const first = inside[0]?.type === 'paragraph_open' ? inside[1]?.children?.[0] : undefined;
  const mark = first?.type === 'text' ? task.exec(first.content)?.[1] : undefined;
  return mark === undefined ? undefined : mark !== ' ';
}

function withoutTaskMark(inside: Token[]): Token[] {
  const first = inside[1]?.children?.[0];
  if (first !== undefined) first.content = first.content.replace(task, '');
  return inside;
}

function expandableOf(meta: { open: boolean; title: string }, inside: Token[], context: ParseContext): Block {
  return {
    object: 'block',
    type: 'expandable',
    isVoid: true,
    data: meta.open ? { defaultExpanded: true } : {},
    fragments: [
      part('expandable-title', [paragraph(readHtmlInlines(parseHtml(meta.title), context))]),
      part('expandable-body', readBlocks(inside, context)),
    ],
  };
}
