import type { StateBlock } from 'markdown-it';
import { blockElements } from '../dialect.ts';
import { maxColumns, readInside, staysInside } from './block-rules.ts';
import { type HtmlElement, isElement, onlyElements, parseHtml } from './html.ts';
import type { PageEnv } from './tokenizer.ts';

const opening = new RegExp(`^<(${blockElements.join('|')})(?=[\\s>])`, 'i');
const summary = /^\s*<summary>([\s\S]*?)<\/summary>\s*$/i;
const maxSummaryLines = 20;

/** For every line the next line (itself included) on which the element opens or closes. */
function linesOf(env: PageEnv, name: string): { opens: Int32Array; closes: Int32Array } {
  const known = env.htmlLines.get(name);
  if (known !== undefined) return known;
  const { lines } = env.scan;
  const found = { opens: new Int32Array(lines.length + 1).fill(-1), closes: new Int32Array(lines.length + 1).fill(-1) };
  let [open, close] = [-1, -1];
  for (let line = lines.length - 1; line >= 0; line--) {
    const text = (lines[line] ?? '').toLowerCase();
    if (text.includes(`<${name}`)) open = line;
    if (text.includes(`</${name}>`)) close = line;
    found.opens[line] = open;
    found.closes[line] = close;
  }
  env.htmlLines.set(name, found);
  return found;
}

const inlineOnly = (element: HtmlElement): boolean =>
  element.children.every(
    (node) => !isElement(node) || !(blockElements.includes(node.name) || ['ul', 'ol', 'li'].includes(node.name)),
  );

function isFigure(element: HtmlElement): boolean {
  if (element.name === 'img') return true;
  if (element.name !== 'figure') return false;
  const parts = onlyElements(element.children);
  const pictures = parts?.filter((part) => part.name === 'img' || part.name === 'picture') ?? [];
  return (
    parts !== undefined &&
    pictures.length === 1 &&
    parts.every((part) => part.name === 'figcaption' || pictures.includes(part))
  );
}

/** Most cells in a row below an element. */
const widest = (element: HtmlElement): number => {
  const parts = element.children.filter(isElement);
  if (element.name === 'tr') return parts.length;
  return parts.reduce(
    (most, part) => Math.max(most, ['thead', 'tbody', 'tr'].includes(part.name) ? widest(part) : 0),
    0,
  );
};

/** Whether an element is one that becomes a block; everything else stays text. */
function isKnown(element: HtmlElement): boolean {
  switch (element.name) {
    case 'figure':
      return isFigure(element);
    case 'div': {
      const parts = onlyElements(element.children);
      if (parts === undefined || parts.length === 0) return false;
      return parts.every(isFigure) || (parts.length === 1 && parts[0]?.name === 'table');
    }
    case 'table':
      return element.children.length > 0 && widest(element) <= maxColumns;
    case 'pre': {
      const parts = element.children;
      return parts.length === 1 && parts[0] !== undefined && isElement(parts[0]) && parts[0].name === 'code';
    }
    case 'picture':
      return false;
    default:
      return inlineOnly(element) && element.children.length > 0;
  }
}

/** `<details>` with `<summary>`: the title as HTML source, the body as blocks. */
function detailsRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const { scan } = state.env as PageEnv;
  const span = scan.spans.get(startLine);
  if (span?.name !== 'details' || span.close === undefined || span.close >= endLine) return false;
  if (!staysInside(state, startLine + 1, span.close)) return false;
  let line = startLine;
  let source = state.getLines(line, line + 1, state.blkIndent, false).replace(/^\s*<details[^>]*>/i, '');
  while (source.trim() === '' && line + 1 < span.close) {
    line++;
    source = state.getLines(line, line + 1, state.blkIndent, false);
  }
  for (let more = 0; !source.includes('</summary>') && line + 1 < span.close && more < maxSummaryLines; more++) {
    line++;
    source += `\n${state.getLines(line, line + 1, state.blkIndent, false)}`;
  }
  const title = summary.exec(source)?.[1];
  if (title === undefined) return false;
  if (silent) return true;
  const open = state.push('details_open', '', 1);
  open.meta = { open: span.attributes.named.has('open'), title };
  readInside(state, line + 1, span.close);
  state.push('details_close', '', -1);
  state.line = span.close + 1;
  return true;
}

/** HTML elements that stand for blocks: one token `html_element` with the parsed tree. */
export function htmlBlockRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if ((state.sCount[startLine] ?? 0) - state.blkIndent >= 4) return false;
  const position = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0);
  if (state.src.charCodeAt(position) !== 0x3c) return false;
  if (detailsRule(state, startLine, endLine, silent)) return true;
  const name = opening.exec(state.src.slice(position, position + 12))?.[1]?.toLowerCase();
  if (name === undefined) return false;
  const { opens, closes } = linesOf(state.env as PageEnv, name);
  const close = closes[startLine] ?? -1;
  if (close < 0 || close >= endLine) return false;
  const again = opens[startLine + 1] ?? -1;
  // An element inside one of the same name is not ours to read; this also keeps the ranges that are looked at apart.
  if (again >= 0 && again <= close) return false;
  if (!staysInside(state, startLine + 1, close)) return false;
  const source = state.getLines(startLine, close + 1, state.blkIndent, false);
  if (!source.trimEnd().endsWith(`</${name}>`)) return false;
  const roots = onlyElements(parseHtml(source));
  const root = roots?.[0];
  if (roots?.length !== 1 || root === undefined || !isKnown(root)) return false;
  if (silent) return true;
  const token = state.push('html_element', '', 0);
  token.meta = { root };
  token.map = [startLine, close + 1];
  state.line = close + 1;
  return true;
}
