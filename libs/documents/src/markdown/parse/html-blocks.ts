import type {
  Align,
  Block,
  CodeData,
  Fragment,
  Image,
  ImageData,
  Images,
  Length,
  Phrasing,
} from '@bindery/contracts/document';
import { paragraph, part, present } from '../../model/build.ts';
import { isSafeUrl } from '../dialect.ts';
import { headingOf } from './blocks.ts';
import { codeLine } from './code.ts';
import type { ParseContext } from './context.ts';
import { childNamed, type HtmlElement, type HtmlNode, isElement, textOf } from './html.ts';
import { readHtmlTable } from './html-table.ts';
import { elementInline, elementMark, imageInline, linkNode } from './inline-nodes.ts';
import { PhrasingBuilder } from './phrasing.ts';

const alignments = { left: 'start', start: 'start', center: 'center', right: 'end', end: 'end' } as const;
const alignOf = (value: string | undefined): Align | undefined =>
  value !== undefined && Object.hasOwn(alignments, value) ? alignments[value as keyof typeof alignments] : undefined;

/** Turns an HTML element that the block rule let through into blocks. */
export function readHtmlBlock(element: HtmlElement, context: ParseContext): Block[] {
  switch (element.name) {
    case 'table':
      return [readHtmlTable(element, {}, context)];
    case 'pre':
      return [readPre(element, context)];
    case 'figure':
      return [imagesOf([element], {}, context)];
    case 'div': {
      const elements = element.children.filter(isElement);
      const [only] = elements;
      if (only?.name === 'table') return [readHtmlTable(only, element.attributes, context)];
      return [imagesOf(elements, element.attributes, context)];
    }
    case 'p': {
      const align = alignOf(element.attributes.align);
      const nodes = readHtmlInlines(element.children, context);
      return [{ ...paragraph(nodes), ...(align === undefined ? {} : { data: { align } }) }];
    }
    default:
      return [
        headingOf(
          Number(element.name.slice(1)),
          readHtmlInlines(element.children, context),
          alignOf(element.attributes.align),
        ),
      ];
  }
}

function imagesOf(
  elements: readonly HtmlElement[],
  attributes: HtmlElement['attributes'],
  context: ParseContext,
): Images {
  const align = (['center', 'left', 'right'] as const).find((one) => one === attributes.align);
  const flag = (name: string) =>
    attributes[name] === 'true' ? true : attributes[name] === 'false' ? false : undefined;
  return {
    object: 'block',
    type: 'images',
    isVoid: false,
    data: present<Images['data']>({ align, fullWidth: flag('data-full-width'), withFrame: flag('data-with-frame') }),
    nodes: elements.map((element) => imageOf(element, context)),
  };
}

const lengthOf = (value: string | undefined): Length | undefined => {
  const match = /^(\d+(?:\.\d+)?)(%|[a-z]{1,4})?$/.exec(value ?? '');
  if (match === null) return undefined;
  return match[2] === undefined || match[2] === 'px' ? Number(match[1]) : { unit: match[2], value: Number(match[1]) };
};

function imageOf(figure: HtmlElement, context: ParseContext): Image {
  const picture = childNamed(figure, 'picture');
  const image = figure.name === 'img' ? figure : childNamed(picture ?? figure, 'img');
  const dark = picture === undefined ? undefined : childNamed(picture, 'source')?.attributes.srcset;
  const attributes = image?.attributes ?? {};
  const source = attributes.src ?? '';
  const caption = childNamed(figure, 'figcaption');
  const data: ImageData = {
    ref: context.resolve(isSafeUrl(source) ? source : '', 'image'),
    ...present<Omit<ImageData, 'ref'>>({
      refDark: dark === undefined || !isSafeUrl(dark) ? undefined : context.resolve(dark, 'image'),
      width: lengthOf(attributes.width),
      height: lengthOf(attributes.height),
      alt: attributes.alt,
    }),
  };
  const fragments: Fragment[] | undefined = caption && [part('caption', readCellBlocks(caption.children, context))];
  return { object: 'block', type: 'image', isVoid: true, data, ...present<{ fragments?: Fragment[] }>({ fragments }) };
}

/** `<pre><code>`: code in which some lines are highlighted (`<strong>`) or hold annotations. */
function readPre(element: HtmlElement, context: ParseContext): Block {
  const code = childNamed(element, 'code');
  const syntax = (code?.attributes.class ?? '').replace(/^lang(?:uage)?-/, '');
  const attributes = element.attributes;
  const overflow = (['scroll', 'wrap'] as const).find((one) => one === attributes['data-overflow']);
  const flag = (name: string) => (attributes[name] === undefined ? undefined : attributes[name] !== 'false');
  const data = present<CodeData>({
    syntax: syntax === '' ? undefined : syntax,
    title: attributes['data-title'],
    overflow,
    lineNumbers: flag('data-line-numbers'),
    fullWidth: flag('data-full-width'),
    expandable: flag('data-expandable'),
  });
  const lines: { builder: PhrasingBuilder; highlighted: boolean }[] = [
    { builder: new PhrasingBuilder(), highlighted: false },
  ];
  const write = (node: HtmlNode, highlighted: boolean): void => {
    const current = lines.at(-1);
    if (current === undefined) return;
    if (isElement(node)) {
      const inline =
        node.name === 'code' ? elementInline('code', node.attributes, textOf(node.children), context) : undefined;
      if (inline !== undefined) current.builder.inline(inline);
      else for (const child of node.children) write(child, highlighted || node.name === 'strong');
      return;
    }
    for (const [index, part] of node.split('\n').entries()) {
      if (index > 0) lines.push({ builder: new PhrasingBuilder(), highlighted: false });
      const line = lines.at(-1);
      if (line === undefined || part === '') continue;
      line.builder.text(part);
      if (highlighted) line.highlighted = true;
    }
  };
  for (const node of code?.children ?? []) write(node, false);
  const nodes = lines.map(({ builder, highlighted }) => codeLine(builder.finish(), highlighted));
  if (nodes.length > 1 && nodes.at(-1)?.nodes.length === 0) nodes.pop();
  return { object: 'block', type: 'code', data, nodes };
}

/** The inline content of HTML; elements that mean nothing here give their text. */
export function readHtmlInlines(nodes: readonly HtmlNode[], context: ParseContext): Phrasing[] {
  const builder = new PhrasingBuilder();
  writeHtmlInlines(nodes, builder, context);
  return builder.finish();
}

function writeHtmlInlines(nodes: readonly HtmlNode[], builder: PhrasingBuilder, context: ParseContext): void {
  for (const node of nodes) {
    if (!isElement(node)) {
      builder.collapsed(node);
      continue;
    }
    writeElement(node, builder, context);
  }
}

function writeElement(element: HtmlElement, builder: PhrasingBuilder, context: ParseContext): void {
  const { name, attributes, children } = element;
  if (name === 'br') {
    builder.text('\n');
    return;
  }
  if (name === 'img' || name === 'picture') {
    const image = name === 'img' ? element : childNamed(element, 'img');
    const dark = name === 'img' ? undefined : childNamed(element, 'source')?.attributes.srcset;
    const node = image && imageInline(image.attributes, dark, context);
    if (node !== undefined) builder.inline(node);
    return;
  }
  const mark = elementMark(name, attributes);
  if (mark !== undefined) {
    builder.mark(mark);
    writeHtmlInlines(children, builder, context);
    builder.unmark();
    return;
  }
  const inline = elementInline(name, attributes, textOf(children), context);
  if (inline !== undefined) {
    builder.inline(inline);
    return;
  }
  const href = attributes.href;
  if (name === 'a' && href !== undefined && isSafeUrl(href) && children.length > 0) {
    const nested = new PhrasingBuilder().within(builder.current);
    writeHtmlInlines(children, nested, context);
    builder.inline(linkNode(href, attributes.title, nested.finish(), context));
    return;
  }
  if (name === 'a' && attributes.id !== undefined && children.length === 0) {
    builder.text(` <a href="${href ?? ''}" id="${attributes.id}"></a>`);
    return;
  }
  writeHtmlInlines(children, builder, context);
}

const blockNames = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'div']);

/** Blocks of a table cell or caption: paragraphs, headings and lists, with loose text as paragraphs. */
export function readCellBlocks(nodes: readonly HtmlNode[], context: ParseContext): Block[] {
  const blocks: Block[] = [];
  let loose: HtmlNode[] = [];
  const settle = () => {
    const content = trimmed(readHtmlInlines(loose, context));
    if (content.length > 0) blocks.push(paragraph(content));
    loose = [];
  };
  for (const node of nodes) {
    if (!isElement(node) || !blockNames.has(node.name)) {
      loose.push(node);
      continue;
    }
    settle();
    if (node.name === 'p') blocks.push(...readHtmlBlock(node, context));
    else if (node.name === 'div') blocks.push(...readCellBlocks(node.children, context));
    else if (node.name === 'ul' || node.name === 'ol') blocks.push(readHtmlList(node, context));
    else blocks.push(...readHtmlBlock(node, context));
  }
  settle();
  return blocks;
}

function readHtmlList(element: HtmlElement, context: ParseContext): Block {
  const start = Number(element.attributes.start ?? 1);
  return {
    object: 'block',
    type: element.name === 'ol' ? 'list-ordered' : 'list-unordered',
    ...(element.name === 'ol' && Number.isInteger(start) && start !== 1 ? { data: { start } } : {}),
    nodes: element.children
      .filter((node) => isElement(node) || node.trim() !== '')
      .map((item) => ({
        object: 'block' as const,
        type: 'list-item' as const,
        nodes: readCellBlocks(isElement(item) ? item.children : [item], context),
      })),
  };
}

/** Takes white space off both ends of a line of text. */
function trimmed(nodes: Phrasing[]): Phrasing[] {
  const cut = (node: Phrasing | undefined, at: 'start' | 'end'): Phrasing | undefined => {
    if (node?.object !== 'text') return node;
    const leaves = [...node.leaves];
    for (let leaf = leaves.at(at === 'start' ? 0 : -1); leaf !== undefined; leaf = leaves.at(at === 'start' ? 0 : -1)) {
      const text = at === 'start' ? leaf.text.replace(/^ +/, '') : leaf.text.replace(/ +$/, '');
      if (text !== '') {
        leaves[at === 'start' ? 0 : leaves.length - 1] = { ...leaf, text };
        break;
      }
      if (at === 'start') leaves.shift();
      else leaves.pop();
    }
    return leaves.length === 0 ? undefined : { ...node, leaves };
  };
  const copy = [...nodes];
  for (const at of ['start', 'end'] as const) {
    const index = at === 'start' ? 0 : copy.length - 1;
    if (copy.length === 0) break;
    const node = cut(copy[index], at);
    if (node === undefined) copy.splice(index, 1);
    else copy[index] = node;
  }
  return copy;
}
