import type { Block, JSONDocument, PlainValue } from '@bindery/contracts/document';
import type { Token } from 'markdown-it';
import { plainParagraph } from '../../model/build.ts';
import { complete } from '../../model/complete.ts';
import { assignKeys } from '../../model/keys.ts';
import { textOfPhrasing } from '../../text/plain.ts';
import { type FrontMatter, parseFrontMatter, splitFrontMatter } from '../front-matter.ts';
import { headingOf, readBlocks } from './blocks.ts';
import { createContext, type ParseContext, type ResolveLink } from './context.ts';
import { Cursor } from './cursor.ts';
import { readInlines } from './inlines.ts';
import { containerPrefix } from './scan.ts';
import { normalizeSource, tokenize } from './tokenizer.ts';

export interface ParseOptions {
  /** Turns addresses into references; without it every address is a reference of kind `url`. */
  readonly resolveLink?: ResolveLink;
  /** Read a leading `# Heading` as the title of a page. Default true; comments have no title. */
  readonly title?: boolean;
  /** Read YAML between `---` lines at the start. Default true. */
  readonly frontMatter?: boolean;
}

export interface ParsedMarkdown {
  readonly frontMatter: FrontMatter;
  /** Text of the leading `# Heading`, which is then not part of the document. */
  readonly title?: string;
  readonly document: JSONDocument;
}

/**
 * Reads a page in the hosted service's markdown dialect. The same input always gives the same document, keys included.
 * Anything that is not well-formed stays text; nothing throws, and time is in proportion to the length of the input.
 * @param markdown the whole file; line ends of any system
 */
export function parseMarkdown(markdown: string, options: ParseOptions = {}): ParsedMarkdown {
  const source = normalizeSource(markdown);
  const split = options.frontMatter === false ? { body: source } : splitFrontMatter(source);
  const frontMatter = split.yaml === undefined ? {} : parseFrontMatter(split.yaml);
  const body = frontMatter === undefined ? source : split.body;
  const { tokens, env } = tokenize(body);
  const context = createContext(env, options.resolveLink);
  noteDefinitions(tokens, context);
  const title = options.title === false ? undefined : takeTitle(tokens, context);
  readFootnotes(tokens, context);
  const nodes = [...readBlocks(tokens, context), ...unusedDefinitions(tokens, context), ...unusedFootnotes(context)];
  complete(nodes);
  const style = context.style as Record<string, PlainValue>;
  const document: JSONDocument = {
    object: 'document',
    data: { schemaVersion: 1, ...(Object.keys(style).length === 0 ? {} : { style }) },
    nodes,
  };
  return { frontMatter: frontMatter ?? {}, ...(title === undefined ? {} : { title }), document: assignKeys(document) };
}

/** Takes a heading of the first level off the start; its text is the title. */
function takeTitle(tokens: Token[], context: ParseContext): string | undefined {
  const [open, inline, close] = tokens;
  if (open?.type !== 'heading_open' || open.tag !== 'h1' || inline === undefined || close === undefined)
    return undefined;
  const heading = headingOf(1, readInlines(inline.children ?? [], context, true));
  const title = textOfPhrasing(heading.nodes).replace(/\s+/g, ' ').trim();
  if (title === '') return undefined;
  tokens.splice(0, 3);
  return title;
}

/** Remembers which link definitions links use, before any of them is read. */
function noteDefinitions(tokens: readonly Token[], context: ParseContext): void {
  for (const token of tokens) {
    const label = token.type === 'link_open' || token.type === 'image' ? token.meta?.label : undefined;
    if (typeof label === 'string') context.usedDefinitions.add(label);
    if (token.children !== null) noteDefinitions(token.children, context);
  }
}

function readFootnotes(tokens: readonly Token[], context: ParseContext): void {
  context.readingFootnotes = true;
  const cursor = new Cursor(tokens);
  for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
    if (token.type !== 'footnote_open') continue;
    const { label } = token.meta as { label: string };
    context.footnotes.set(label, readBlocks(cursor.inside(), context));
  }
  context.readingFootnotes = false;
}

/** A footnote that nothing refers to stays as text at the end. */
function unusedFootnotes(context: ParseContext): Block[] {
  return [...context.footnotes]
    .filter(([label]) => !context.usedFootnotes.has(label))
    .flatMap(([label, blocks]) => [plainParagraph(`[^${label}]:`), ...blocks]);
}

/** A link definition that no link uses stays as text at the end. */
function unusedDefinitions(tokens: readonly Token[], context: ParseContext): Block[] {
  return tokens
    .filter((token) => token.type === 'reference_definition' && !context.usedDefinitions.has(String(token.meta?.label)))
    .map((token) => {
      const [from, to] = token.map ?? [0, 0];
      const lines = context.env.scan.lines.slice(from, to);
      return plainParagraph(
        lines
          .map((line) => line.slice(containerPrefix.exec(line)?.[0].length ?? 0))
          .join(' ')
          .trim(),
      );
    });
}
