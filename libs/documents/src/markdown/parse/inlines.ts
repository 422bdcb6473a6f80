import type { Block, Inline, Phrasing } from '@bindery/contracts/document';
import type { Token } from 'markdown-it';
import { part } from '../../model/build.ts';
import { inlineElements, isSafeUrl } from '../dialect.ts';
import type { ParseContext } from './context.ts';
import { type InlineTag, isElement, parseHtml, parseTag } from './html.ts';
import { elementInline, elementMark, imageInline, linkNode } from './inline-nodes.ts';
import { PhrasingBuilder } from './phrasing.ts';
import { inlineText } from './tokenizer.ts';

const markOf = { strong_open: 'bold', em_open: 'italic', s_open: 'strikethrough' } as const;
/** Links and annotations inside one another, in HTML: deeper ones stay text. */
const maxLinkDepth = 2;

interface Pairs {
  /** Index of the closing token for an opening one. */
  readonly close: Map<number, number>;
  readonly tags: Map<number, InlineTag>;
}

/** Finds which HTML tags belong together; a pair never reaches out of the markdown markup around it. */
function pair(tokens: readonly Token[]): Pairs {
  const close = new Map<number, number>();
  const tags = new Map<number, InlineTag>();
  const open: { index: number; name: string | undefined }[] = [];
  const counts = new Map<string, number>();
  const count = (name: string | undefined, by: number) => {
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + by);
  };
  for (const [index, token] of tokens.entries()) {
    if (token.nesting === 1) open.push({ index, name: undefined });
    else if (token.nesting === -1) {
      for (let top = open.pop(); top !== undefined; top = open.pop()) {
        count(top.name, -1);
        if (top.name !== undefined) continue;
        close.set(top.index, index);
        break;
      }
    } else if (token.type === 'html_inline') {
      const tag = parseTag(token.content);
      if (tag === undefined || !inlineElements.has(tag.name)) continue;
      tags.set(index, tag);
      if (tag.kind === 'open') {
        if (tag.name === 'br' || tag.name === 'img' || tag.name === 'source') continue;
        open.push({ index, name: tag.name });
        count(tag.name, 1);
      } else if ((counts.get(tag.name) ?? 0) > 0) {
        let at = open.length - 1;
        while (at >= 0 && open[at]?.name !== undefined && open[at]?.name !== tag.name) at--;
        const opener = open[at];
        if (opener?.name !== tag.name) continue;
        for (const dropped of open.splice(at)) count(dropped.name, -1);
        close.set(opener.index, index);
      }
    }
  }
  return { close, tags };
}

type Closer = () => void;

/**
 * Turns the tokens of a paragraph into its inline content.
 * @param oneLine line ends of the source are spaces (headings)
 */
export function readInlines(tokens: readonly Token[], context: ParseContext, oneLine = false): Phrasing[] {
  const { close, tags } = pair(tokens);
  const builders = [new PhrasingBuilder()];
  const closers = new Map<number, Closer>();
  const builder = (): PhrasingBuilder => builders.at(-1) ?? new PhrasingBuilder();

  /** Collects what follows, up to a token, as content of a nested node. */
  const nested = (end: number, make: (nodes: Phrasing[]) => Inline | undefined): void => {
    const inner = new PhrasingBuilder().within(builder().current);
    builders.push(inner);
    closers.set(end, () => {
      builders.pop();
      const node = make(inner.finish());
      if (node !== undefined) builder().inline(node);
    });
  };
  const sourceText = (from: number, to: number): string =>
    tokens
      .slice(from, to)
      .map((token) => (token.nesting === 0 ? token.content : token.markup))
      .join('');

  /** Handles an HTML tag; the number of tokens that are thereby done, 0 when it is text. */
  const readTag = (index: number, tag: InlineTag): number => {
    if (tag.kind === 'close') return closers.has(index) ? 1 : 0;
    if (tag.name === 'br') {
      builder().text('\n');
      return 1;
    }
    if (tag.name === 'img') {
      const image = imageInline(tag.attributes, undefined, context);
      if (image !== undefined) builder().inline(image);
      return image === undefined ? 0 : 1;
    }
    const end = close.get(index);
    if (end === undefined) return 0;
    if (tag.name === 'picture') return readPicture(index, end);
    const mark = elementMark(tag.name, tag.attributes);
    if (mark !== undefined) {
      builder().mark(mark);
      closers.set(end, () => builder().unmark());
      return 1;
    }
    if (end - index <= 20) {
      const node = elementInline(tag.name, tag.attributes, sourceText(index + 1, end), context);
      if (node !== undefined) {
        builder().inline(node);
        return end - index + 1;
      }
    }
    const href = tag.attributes.href;
    const plain = Object.keys(tag.attributes).every((name) => name === 'href' || name === 'title');
    if (tag.name !== 'a' || href === undefined || !plain || !isSafeUrl(href) || builders.length > maxLinkDepth)
      return 0;
    nested(end, (nodes) => linkNode(href, tag.attributes.title, nodes, context));
    return 1;
  };

  const readPicture = (index: number, end: number): number => {
    if (end - index > 20) return 0;
    const inside = tokens.slice(index + 1, end);
    if (inside.some((token) => token.type !== 'html_inline' && token.content.trim() !== '')) return 0;
    const elements = parseHtml(inside.map((token) => token.content).join('')).filter(isElement);
    const image = elements.find((element) => element.name === 'img');
    const dark = elements.find((element) => element.name === 'source')?.attributes.srcset;
    const node = image === undefined ? undefined : imageInline(image.attributes, dark, context);
    if (node === undefined) return 0;
    builder().inline(node);
    return end - index + 1;
  };

  const readLink = (token: Token, end: number): void => {
    const href = String(token.attrGet('href') ?? '');
    const title = token.attrGet('title');
    if (/^#user-content-fn-[\w-]+$/.test(href)) {
      const next = tokens[end + 1];
      if (next?.type === 'footnote_reference' && !context.readingFootnotes) {
        nested(end + 1, (nodes) => annotation(next, nodes, context));
        return;
      }
    }
    if (title === 'mention') {
      nested(end, () => ({
        object: 'inline',
        type: 'mention',
        data: { ref: context.resolve(href, 'page') },
        isVoid: true,
      }));
      return;
    }
    nested(end, (nodes) => linkNode(href, title === null ? undefined : String(title), nodes, context));
    if (token.markup === 'autolink') context.style.autolink ??= true;
  };

  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined) break;
    const closer = closers.get(index);
    if (closer !== undefined) {
      closers.delete(index);
      closer();
      continue;
    }
    switch (token.type) {
      case 'strong_open':
      case 'em_open':
      case 's_open': {
        builder().mark({ object: 'mark', type: markOf[token.type] });
        const end = close.get(index);
        if (end !== undefined) closers.set(end, () => builder().unmark());
        break;
      }
      case 'link_open': {
        const end = close.get(index);
        if (end !== undefined) readLink(token, end);
        break;
      }
      case 'link_close':
        break;
      case 'code_inline':
        builder().mark({ object: 'mark', type: 'code' });
        builder().text(token.content);
        builder().unmark();
        break;
      case 'softbreak':
        if (oneLine) builder().text(' ');
        else builder().wrap();
        break;
      case 'hardbreak':
        builder().text('\n');
        break;
      case 'image': {
        const attributes: Record<string, string> = {
          src: String(token.attrGet('src') ?? ''),
          alt: inlineText(token.children ?? []),
        };
        const title = token.attrGet('title');
        if (title !== null) attributes.title = String(title);
        const image = imageInline(attributes, undefined, context);
        if (image !== undefined) builder().inline(image);
        break;
      }
      case 'inline_math':
        builder().inline({ object: 'inline', type: 'inline-math', data: { formula: token.content }, isVoid: true });
        break;
      case 'emoji':
        builder().inline({ object: 'inline', type: 'emoji', data: { code: token.content }, isVoid: true });
        break;
      case 'footnote_reference':
        if (context.readingFootnotes) builder().text(`[^${labelOf(token)}]`);
        else builder().inline(annotation(token, [], context));
        break;
      case 'html_inline': {
        const tag = tags.get(index);
        const done = tag === undefined ? 0 : readTag(index, tag);
        if (done === 0) builder().text(token.content);
        else index += done - 1;
        break;
      }
      default:
        builder().text(token.content);
    }
  }
  return builders[0]?.finish() ?? [];
}

const labelOf = (token: Token): string => (token.meta as { label: string }).label;

function annotation(token: Token, nodes: Phrasing[], context: ParseContext): Inline {
  const label = labelOf(token);
  context.usedFootnotes.add(label);
  const body: Block[] = context.footnotes.get(label) ?? [];
  return {
    object: 'inline',
    type: 'annotation',
    isVoid: false,
    nodes,
    fragments: [part('annotation-body', body)],
  };
}
