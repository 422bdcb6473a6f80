import type { Inline, Mark, Phrasing } from '@bindery/contracts/document';
import { emojiToName } from 'gemoji';
import { linkLabel } from '../parse/tag-voids.ts';
import type { WriteContext } from './context.ts';
import { escapeAttribute, escapeHtml } from './escape.ts';
import { type Span, spansOf } from './spans.ts';

const elements = {
  bold: 'strong',
  italic: 'em',
  strikethrough: 'del',
  code: 'code',
  keyboard: 'kbd',
  superscript: 'sup',
  subscript: 'sub',
} as const;

/** The HTML tags before and after marked text. */
export function markTags(mark: Mark): [open: string, close: string] {
  if (mark.type !== 'color') return [`<${elements[mark.type]}>`, `</${elements[mark.type]}>`];
  const { text, background } = mark.data;
  const style = `${text === undefined ? '' : `color:${text};`}${background === undefined ? '' : `background-color:${background};`}`;
  return [`<mark style="${style}">`, '</mark>'];
}

const attribute = (name: string, value: string | undefined): string =>
  value === undefined ? '' : ` ${name}="${escapeAttribute(value)}"`;

/** `<img>`, inside `<picture>` when there is a variant for dark themes. */
export function imageTag(
  source: string,
  dark: string | undefined,
  attributes: readonly (readonly [string, string | undefined])[],
): string {
  const image = `<img${attribute('src', source)}${attributes.map(([name, value]) => attribute(name, value)).join('')}>`;
  return dark === undefined
    ? image
    : `<picture><source${attribute('srcset', dark)} media="(prefers-color-scheme: dark)">${image}</picture>`;
}

/** The emoji that hexadecimal code points stand for. */
const characterOf = (code: string): string =>
  String.fromCodePoint(
    ...code
      .split('-')
      .map((point) => Number.parseInt(point, 16))
      .filter((point) => point > 0 && point <= 0x10ffff),
  );

/** The name of an emoji between colons, where it has one. */
export function emojiShortcode(code: string): string | undefined {
  const name = emojiToName[characterOf(code)];
  return name === undefined ? undefined : `:${name}:`;
}

function button(node: Inline & { type: 'button' }, context: WriteContext): string {
  const { label, kind, size, icon, ref, action } = node.data;
  const look = `class="button ${kind}${size === undefined ? '' : ` ${size}`}"`;
  const end = `${attribute('data-icon', icon)}>${escapeHtml(label)}`;
  if (action !== undefined) {
    const target =
      action.action === 'select' ? attribute('data-slug', action.slug) : attribute('data-query', action.query);
    return `<button type="button" ${look} data-action="${action.action}"${target}${end}</button>`;
  }
  const href = ref === undefined ? '' : `${attribute('href', context.address(ref, 'link')).trimStart()} `;
  return `<a ${href}${look}${end}</a>`;
}

/** An inline that the dialect writes as HTML (or as a short word) wherever it stands. */
export function writeHtmlNode(node: Inline, context: WriteContext): string {
  switch (node.type) {
    case 'emoji':
      return `<span data-gb-custom-inline data-tag="emoji" data-code="${escapeAttribute(node.data.code)}">${escapeHtml(characterOf(node.data.code))}</span>`;
    case 'icon': {
      const color = node.data.color === undefined ? '' : ` style="color:${node.data.color};"`;
      return `<i class="fa-${escapeAttribute(node.data.icon)}"${color}>:${escapeHtml(node.data.icon)}:</i>`;
    }
    case 'expression':
      return `<code class="expression">${escapeHtml(node.data.expression)}</code>`;
    case 'inline-image':
      return imageTag(
        context.address(node.data.ref, 'image'),
        node.data.refDark && context.address(node.data.refDark, 'image'),
        [
          ['alt', node.data.alt ?? ''],
          ['title', node.data.caption],
          ['data-size', node.data.size],
        ],
      );
    case 'mention': {
      const href = context.address(node.data.ref, 'page');
      return `<a data-mention${attribute('href', href)}>${escapeHtml(linkLabel(href))}</a>`;
    }
    case 'button':
      return button(node, context);
    case 'inline-math':
      return escapeHtml(`$$${node.data.formula}$$`);
    default:
      return htmlElementOf(node, context);
  }
}

/** A link as HTML; an annotation has only its text here. */
export function htmlElementOf(node: Inline & { type: 'link' | 'annotation' }, context: WriteContext): string {
  const inner = writeHtmlInlines(node.nodes, context);
  if (node.type === 'annotation') return inner;
  return `<a${attribute('href', context.address(node.data.ref, 'link'))}${attribute('title', node.data.title)}>${inner}</a>`;
}

function writeSpan(span: Span, context: WriteContext): string {
  switch (span.kind) {
    case 'text':
      return escapeHtml(span.text);
    case 'code':
      return `<code>${escapeHtml(span.text)}</code>`;
    case 'wrap':
      return ' ';
    case 'break':
      return '<br>';
    case 'node':
      return writeHtmlNode(span.node, context);
    default: {
      const [open, close] = markTags(span.mark);
      return `${open}${span.children.map((child) => writeSpan(child, context)).join('')}${close}`;
    }
  }
}

/** Writes inline content as HTML, for table cells, captions and summaries. */
export const writeHtmlInlines = (nodes: readonly Phrasing[], context: WriteContext): string =>
  spansOf(nodes)
    .map((span) => writeSpan(span, context))
    .join('');
