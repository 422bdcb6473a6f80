import { maxBlockDepth } from '@bindery/contracts/document';
import createMarkdownIt, { type Env, type MarkdownIt, type StateBlock, type StateCore, type Token } from 'markdown-it';
import { inlineElements, isSafeUrl } from '../dialect.ts';
import { blockTagRule, footnoteRule, mathRule, maxColumns } from './block-rules.ts';
import { withCodePipes } from './code-pipes.ts';
import { parseTag } from './html.ts';
import { htmlBlockRule } from './html-block-rule.ts';
import { emojiRule, footnoteReferenceRule, inlineMathRule } from './inline-rules.ts';
import { type Scan, scan } from './scan.ts';

/** What the rules share while one page is read. */
export interface PageEnv extends Env {
  scan: Scan;
  /** Labels of `[^label]:` definitions that exist. */
  footnotes: Set<string>;
  /** Lines on which the nth kind of HTML element opens or closes, filled on first use. */
  htmlLines: Map<string, { opens: Int32Array; closes: Int32Array }>;
}

type BlockRule = (state: StateBlock, startLine: number, endLine: number, silent: boolean) => boolean;

const containers = ['paragraph', 'reference', 'blockquote', 'list'];

/**
 * Wraps a rule that opens a container so that it declines once blocks are nested too deeply; what it would have read is
 * then text, so nothing is lost and recursion stays bounded.
 */
const bounded =
  (rule: BlockRule): BlockRule =>
  (state, startLine, endLine, silent) =>
    state.level < maxBlockDepth && rule(state, startLine, endLine, silent);

/** Cells of a pipe table; one with more is kept as text. Each cell is a record of its own, many times its markdown. */
const maxCells = 15_000;

const delimiterRow = /^[\s>|:-]+$/;

/** Wraps the rule of pipe tables so that absurdly wide or large ones are text. */
const narrow =
  (rule: BlockRule): BlockRule =>
  (state, startLine, endLine, silent) => {
    const lineAt = (line: number): string => state.src.slice(state.bMarks[line], state.eMarks[line]);
    const first = lineAt(startLine);
    if (!first.includes('|') || startLine + 1 >= endLine) return false;
    const columns = first.split('|').length;
    // Only where a table may begin is it measured, so that a long one is not measured from each of its lines.
    if (columns > maxColumns || !delimiterRow.test(lineAt(startLine + 1))) return false;
    let rows = 0;
    for (let line = startLine + 2; line < endLine && !state.isEmpty(line); line += 1) rows += 1;
    return rows * columns <= maxCells && rule(state, startLine, endLine, silent);
  };

/** More characters of markup than this in one paragraph are no prose; reading them as markup could take very long. */
const maxMarkup = 10_000;

/** Paragraphs that are crowded with markup become text. */
function crowdedRule(state: StateCore): void {
  for (const token of state.tokens) {
    if (token.type !== 'inline' || token.content.length <= maxMarkup) continue;
    if ((token.content.match(/[*_~[\]<`&]/g)?.length ?? 0) <= maxMarkup) continue;
    for (const [index, line] of token.content.split('\n').entries()) {
      if (index > 0) token.children?.push(new state.Token('softbreak', 'br', 0));
      const text = new state.Token('text', '', 0);
      text.content = state.md.utils.unescapeAll(line.trim());
      token.children?.push(text);
    }
    token.content = '';
  }
}

function create(): MarkdownIt {
  const md = createMarkdownIt({ html: true, linkify: false, typographer: false, maxNesting: 40 });
  md.validateLink = isSafeUrl;
  md.normalizeLink = (url: string) => url;
  md.normalizeLinkText = (url: string) => url;
  const rules = md.block.ruler.getRules('');
  // The order of the rules in markdown-it: table, code, fence, blockquote, hr, list, ...
  const [table, , , blockquote, , list] = rules;
  if (table === undefined || blockquote === undefined || list === undefined)
    throw new Error('markdown-it: rules moved');
  md.block.ruler.at('table', narrow(withCodePipes(table)), { alt: ['paragraph', 'reference'] });
  md.block.ruler.at('blockquote', bounded(blockquote), { alt: ['paragraph', 'reference', 'blockquote', 'list'] });
  md.block.ruler.at('list', bounded(list), { alt: ['paragraph', 'reference', 'blockquote'] });
  md.block.ruler.disable('html_block');
  // Definitions that no link uses are kept as text, so their tokens must stay.
  md.core.ruler.disable('strip_references');
  md.core.ruler.before('inline', 'crowded', crowdedRule);
  md.block.ruler.before('fence', 'block_tag', bounded(blockTagRule), { alt: containers });
  md.block.ruler.before('fence', 'html_element', bounded(htmlBlockRule), { alt: containers });
  md.block.ruler.before('fence', 'math', mathRule, { alt: containers });
  md.block.ruler.before('reference', 'footnote', bounded(footnoteRule), { alt: ['paragraph', 'reference'] });
  md.inline.ruler.before('link', 'footnote_reference', footnoteReferenceRule);
  md.inline.ruler.before('link', 'inline_math', inlineMathRule);
  md.inline.ruler.before('link', 'emoji', emojiRule);
  return md;
}

const markdownIt = create();

/** Line ends and NUL as CommonMark has them; no byte order mark. */
export const normalizeSource = (source: string): string =>
  source
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replaceAll('\0', '\uFFFD');

/** Splits a page's body into markdown-it tokens, with our block tags and HTML elements as tokens of their own. */
export function tokenize(source: string): { tokens: Token[]; env: PageEnv } {
  const env: PageEnv = { scan: scan(source.split('\n')), footnotes: new Set(), htmlLines: new Map() };
  return { tokens: markdownIt.parse(source, env), env };
}

/** The text of inline tokens without markup, for titles and the alternative text of images. */
export function inlineText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      switch (token.type) {
        case 'image':
          return inlineText(token.children ?? []);
        case 'softbreak':
        case 'hardbreak':
          return ' ';
        case 'emoji':
          return token.markup;
        case 'html_inline':
          return inlineElements.has(parseTag(token.content)?.name ?? '') ? '' : token.content;
        default:
          return token.content;
      }
    })
    .join('');
}
