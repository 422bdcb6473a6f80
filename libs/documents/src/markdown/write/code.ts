import type { Code, CodeLine, Phrasing } from '@bindery/contracts/document';
import type { WriteContext } from './context.ts';
import { escapeAttribute, escapeHtml } from './escape.ts';
import { writeHtmlInlines } from './html-inlines.ts';
import { writeTag } from './tags.ts';

const plain = (nodes: readonly Phrasing[]): string =>
  nodes
    .map((node) =>
      node.object === 'text' ? node.leaves.map((leaf) => leaf.text).join('') : 'nodes' in node ? plain(node.nodes) : '',
    )
    .join('');

const isPlainLine = (line: CodeLine): boolean =>
  line.data?.highlighted !== true && line.nodes.every((node) => node.object === 'text');

/** A fence, inside `{% code %}` when it has a title or options; `<pre>` when lines are highlighted or hold inlines. */
export function writeCode(block: Code, context: WriteContext): string {
  if (!block.nodes.every(isPlainLine)) return writePre(block, context);
  const { syntax, title, overflow, lineNumbers, fullWidth, expandable, collapsedLineCount } = block.data;
  const source = block.nodes.map((line) => plain(line.nodes)).join('\n');
  const language = (syntax ?? '').replace(/\s+/g, ' ').trim();
  const character = language.includes('`') ? '~' : '`';
  const runs = source.match(character === '`' ? /`{3,}/g : /~{3,}/g) ?? [];
  const fence = character.repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  const space = language.startsWith(character) ? ' ' : '';
  const body = `${fence}${space}${language}\n${source === '' ? '' : `${source}\n`}${fence}`;
  const attributes = [
    ['title', title],
    ['overflow', overflow],
    ['lineNumbers', text(lineNumbers)],
    ['fullWidth', text(fullWidth)],
    ['expandable', text(expandable)],
    ['collapsedLineCount', text(collapsedLineCount)],
  ] as const;
  return attributes.every(([, value]) => value === undefined)
    ? body
    : `${writeTag('code', attributes)}\n${body}\n{% endcode %}`;
}

const text = (value: boolean | number | undefined): string | undefined =>
  value === undefined ? undefined : String(value);

function writePre(block: Code, context: WriteContext): string {
  const { syntax, title, overflow, lineNumbers, fullWidth, expandable } = block.data;
  const attributes = [
    ['class', syntax === undefined ? undefined : `language-${syntax}`],
    ['data-title', title],
    ['data-overflow', overflow],
    ['data-line-numbers', text(lineNumbers)],
    ['data-full-width', text(fullWidth)],
    ['data-expandable', text(expandable)],
  ] as const;
  const lines = block.nodes.map((line) => {
    const inner = line.nodes
      .map((node) => (node.object === 'text' ? escapeHtml(plain([node])) : writeHtmlInlines([node], context)))
      .join('');
    return line.data?.highlighted === true ? `<strong>${inner}\n</strong>` : `${inner}\n`;
  });
  const options = attributes
    .map(([name, value]) => (value === undefined ? '' : ` ${name}="${escapeAttribute(value)}"`))
    .join('');
  const language = syntax === undefined ? '' : ` class="lang-${escapeAttribute(syntax)}"`;
  return `<pre${options}><code${language}>${lines.join('')}</code></pre>`;
}
