import type { Inline, Mark, Phrasing } from '@bindery/contracts/document';
import { isPart } from '../../model/build.ts';
import { linkLabel } from '../parse/tag-voids.ts';
import type { WriteContext } from './context.ts';
import { escapeAddress, escapeLabel, escapeText, escapeTitle } from './escape.ts';
import { emojiShortcode, htmlElementOf, markTags, writeHtmlNode } from './html-inlines.ts';
import { type Span, spansOf } from './spans.ts';

/** The output is built from markup that stands as it is, and text that is escaped when its neighbours are known. */
type Part = { markup: string } | { text: string };

type CharacterClass = 'space' | 'word' | 'punctuation';

const classOf = (character: string): CharacterClass =>
  character === '' || /\s/u.test(character) ? 'space' : /[\p{P}\p{S}]/u.test(character) ? 'punctuation' : 'word';

/** First or last character of what a span writes, as far as flanking rules care. */
function edge(span: Span | undefined, side: 'first' | 'last'): string {
  if (span === undefined || span.kind === 'wrap' || span.kind === 'break') return ' ';
  if (span.kind !== 'text') return '*';
  const characters = side === 'first' ? [...span.text.slice(0, 2)] : [...span.text.slice(-2)];
  return (side === 'first' ? characters[0] : characters.at(-1)) ?? ' ';
}

const isDelimited = (span: Span | undefined): boolean =>
  span?.kind === 'mark' && (span.mark.type === 'bold' || span.mark.type === 'italic');

/** The markdown delimiter for a mark, or undefined where only HTML says it exactly. */
function delimiter(
  mark: Mark,
  children: readonly Span[],
  before: Span | undefined,
  after: Span | undefined,
  outer: string,
  style: WriteContext['style'],
): string | undefined {
  if (mark.type !== 'bold' && mark.type !== 'italic' && mark.type !== 'strikethrough') return undefined;
  const [first, last] = [children[0], children.at(-1)];
  const [inner, end] = [classOf(edge(first, 'first')), classOf(edge(last, 'last'))];
  if (inner === 'space' || end === 'space') return undefined;
  const outside = outer === '' ? 'space' : 'punctuation';
  const left = before === undefined ? outside : classOf(edge(before, 'last'));
  const right = after === undefined ? outside : classOf(edge(after, 'first'));
  if ((inner === 'punctuation' && left === 'word') || (end === 'punctuation' && right === 'word')) return undefined;
  if (mark.type === 'strikethrough') return outer === '~~' || isStrike(before) || isStrike(after) ? undefined : '~~';
  const touching = (before === undefined && outer !== '') || (after === undefined && outer !== '');
  const glued = isDelimited(before) || isDelimited(after) || isDelimited(first) || isDelimited(last);
  if (mark.type === 'bold') return (touching && outer === '**') || isBold(before) || isBold(after) ? undefined : '**';
  const intraword = left === 'word' || right === 'word';
  if (!glued && !(touching && /[*]/.test(outer))) return intraword ? '*' : (style.emphasis ?? '_');
  return intraword || (touching && outer === '_') ? undefined : '_';
}

const isBold = (span: Span | undefined): boolean => span?.kind === 'mark' && span.mark.type === 'bold';
const isStrike = (span: Span | undefined): boolean => span?.kind === 'mark' && span.mark.type === 'strikethrough';

/** Code between as many backticks as it needs. */
function codeSpan(text: string): string {
  const flat = text.replace(/\s*\n\s*/g, ' ');
  const runs = new Set([...flat.matchAll(/`+/g)].map((run) => run[0].length));
  let count = 1;
  while (runs.has(count)) count++;
  const ticks = '`'.repeat(count);
  const padded = /^`|`$/.test(flat) || (/^ .* $/.test(flat) && flat.trim() !== '') ? ` ${flat} ` : flat;
  return `${ticks}${padded}${ticks}`;
}

/** Inlines that markdown allows inside a link. */
const insideLinks = new Set<string>(['inline-image', 'emoji', 'icon', 'expression', 'inline-math']);

const isAutolink = (href: string): boolean => /^[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^<>\s\\]*$/.test(href);

class InlineWriter {
  private readonly parts: Part[] = [];
  private readonly context: WriteContext;

  constructor(context: WriteContext) {
    this.context = context;
  }

  spans(spans: readonly Span[], outer = ''): void {
    for (const [index, span] of spans.entries()) {
      switch (span.kind) {
        case 'text':
          this.parts.push({ text: span.text });
          break;
        case 'code':
          this.markup(codeSpan(span.text));
          break;
        case 'wrap':
          if (this.context.oneLine) this.parts.push({ text: ' ' });
          else this.markup('\n');
          break;
        case 'break':
          this.markup(this.context.oneLine ? '<br>' : '\\\n');
          break;
        case 'node':
          this.node(span.node, span.base.length);
          break;
        default:
          this.mark(span.mark, span.children, spans[index - 1], spans[index + 1], outer);
      }
    }
  }

  private mark(
    mark: Mark,
    children: readonly Span[],
    before: Span | undefined,
    after: Span | undefined,
    outer: string,
  ): void {
    const delimiters = delimiter(mark, children, before, after, outer, this.context.style);
    if (delimiters !== undefined) {
      this.markup(delimiters);
      this.spans(children, delimiters);
      this.markup(delimiters);
      return;
    }
    const [open, close] = markTags(mark);
    this.markup(open);
    this.spans(children, '<');
    this.markup(close);
  }

  private node(node: Inline, base: number): void {
    if (node.type === 'annotation') this.annotation(node, base);
    else this.markup(node.type === 'link' ? this.link(node, base) : this.voidNode(node));
  }

  private voidNode(node: Exclude<Inline, { type: 'link' | 'annotation' }>): string {
    switch (node.type) {
      case 'emoji':
        return emojiShortcode(node.data.code) ?? writeHtmlNode(node, this.context);
      case 'mention': {
        const href = this.context.address(node.data.ref, 'page');
        return `[${escapeLabel(linkLabel(href))}](${escapeAddress(href)} "mention")`;
      }
      case 'inline-math': {
        const { formula } = node.data;
        return /^[^$\n]+$/.test(formula) ? `$$${formula}$$` : escapeLabel(formula).replaceAll('\n', ' ');
      }
      case 'inline-image': {
        const { ref, refDark, caption, alt, size } = node.data;
        if (refDark !== undefined || size !== undefined || this.alone) return writeHtmlNode(node, this.context);
        const title = caption === undefined || caption === '' ? '' : ` "${escapeTitle(caption)}"`;
        return `![${escapeLabel(alt ?? '')}](${escapeAddress(this.context.address(ref, 'image'))}${title})`;
      }
      default:
        return writeHtmlNode(node, this.context);
    }
  }

  /** An image with nothing around it would be read as a block. */
  alone = false;

  private link(node: Inline & { type: 'link' }, base: number): string {
    const href = this.context.address(node.data.ref, 'link');
    const { title } = node.data;
    if (
      this.context.style.autolink === true &&
      title === undefined &&
      plainLabel(node.nodes, base) === href &&
      isAutolink(href)
    )
      return `<${href}>`;
    const nested = node.nodes.some((child) => child.object === 'inline' && !insideLinks.has(child.type));
    if (nested || title === 'mention') return htmlElementOf(node, this.context);
    const inner = new InlineWriter(this.context);
    inner.spans(spansOf(node.nodes, base), '[');
    const written = title === undefined || title === '' ? '' : ` "${escapeTitle(title)}"`;
    return `[${inner.finish(true)}](${escapeAddress(href)}${written})`;
  }

  private annotation(node: Inline & { type: 'annotation' }, base: number): void {
    const body = node.fragments.find((one) => isPart(one, 'annotation-body'))?.nodes ?? [];
    const number = this.context.footnotes.push(body);
    if (node.nodes.length > 0) {
      const inner = new InlineWriter(this.context);
      inner.spans(spansOf(node.nodes, base), '[');
      this.markup(`[${inner.finish(true)}](#user-content-fn-${number})`);
    }
    this.markup(`[^${number}]`);
  }

  private markup(markup: string): void {
    const last = this.parts.at(-1);
    if (last !== undefined && 'markup' in last) last.markup += markup;
    else this.parts.push({ markup });
  }

  finish(inLink = false): string {
    const edges = withEdges(this.parts, inLink);
    const out: string[] = [];
    let before = '';
    for (const [index, part] of edges.entries()) {
      let written: string;
      if ('markup' in part) written = part.markup;
      else {
        const next = edges[index + 1];
        const after = next === undefined ? '' : 'markup' in next ? next.markup.slice(0, 60) : next.text;
        const lineStart = !inLink && !this.context.oneLine && (before === '' || before === '\n');
        written = escapeText(part.text, { before, after, lineStart, inLink });
      }
      out.push(written);
      before = written.at(-1) ?? before;
    }
    return out.join('');
  }
}

/** White space that markdown would strip at the ends of lines is written as character references. */
function withEdges(parts: readonly Part[], inLink: boolean): Part[] {
  const result: Part[] = [];
  for (const [index, part] of parts.entries()) {
    if ('markup' in part) {
      result.push(part);
      continue;
    }
    const [before, after] = [parts[index - 1], parts[index + 1]];
    const starts = before === undefined ? !inLink : 'markup' in before && before.markup.endsWith('\n');
    const ends = after === undefined ? !inLink : 'markup' in after && after.markup.startsWith('\n');
    let text = part.text;
    const first = starts ? /^\s/u.exec(text)?.[0] : undefined;
    if (first !== undefined) {
      result.push({ markup: reference(first) });
      text = text.slice(first.length);
    }
    const last = ends ? /\s$/u.exec(text)?.[0] : undefined;
    if (last !== undefined) text = text.slice(0, -last.length);
    if (text !== '') result.push({ text });
    if (last !== undefined) result.push({ markup: reference(last) });
  }
  const end = result.at(-1);
  if (!inLink && end !== undefined && 'markup' in end && end.markup.endsWith('\\\n'))
    result[result.length - 1] = {
      markup: end.markup.replace(/(?:\\\n)+$/, (breaks) => '<br>'.repeat(breaks.length / 2)),
    };
  return result;
}

const reference = (character: string): string => `&#x${(character.codePointAt(0) ?? 32).toString(16).toUpperCase()};`;

const plainLabel = (nodes: readonly Phrasing[], base: number): string | undefined => {
  const [only] = nodes;
  if (nodes.length !== 1 || only?.object !== 'text' || only.leaves.length !== 1) return undefined;
  return only.leaves[0]?.marks.length === base ? only.leaves[0].text : undefined;
};

/** Writes inline content as markdown. */
export function writeInlines(nodes: readonly Phrasing[], context: WriteContext): string {
  const writer = new InlineWriter(context);
  writer.alone = nodes.length === 1 && nodes[0]?.object === 'inline' && nodes[0].type === 'inline-image';
  writer.spans(spansOf(nodes));
  return writer.finish();
}
