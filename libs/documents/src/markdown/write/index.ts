import type { JSONDocument } from '@bindery/contracts/document';
import { text } from '../../model/build.ts';
import { type FrontMatter, serializeFrontMatter } from '../front-matter.ts';
import { writeBlocks, writeHeadingText } from './blocks.ts';
import { defaultAddress, type ResolveRef, styleOf, type WriteContext } from './context.ts';

export interface SerializeOptions {
  /** Written as the leading `# Heading`. */
  readonly title?: string;
  readonly frontMatter?: FrontMatter;
  /** Turns references into addresses; without it url references are their address and others a path of their id. */
  readonly resolveRef?: ResolveRef;
}

/**
 * Writes a document in the hosted service's markdown dialect, the inverse of `parseMarkdown`: reading the result gives the
 * same document. Ends with a line feed unless it is empty.
 */
export function serializeMarkdown(document: JSONDocument, options: SerializeOptions = {}): string {
  const context: WriteContext = {
    address: options.resolveRef ?? defaultAddress,
    style: styleOf(document),
    footnotes: [],
    oneLine: false,
  };
  const body = writeBlocks(document.nodes, context);
  const footnotes: string[] = [];
  for (let index = 0; index < context.footnotes.length; index++) {
    const written = writeBlocks(context.footnotes[index] ?? [], context);
    footnotes.push(`[^${index + 1}]: ${written.replace(/\n(?=[^\n])/g, '\n    ')}`.trimEnd());
  }
  const title = options.title === undefined ? '' : `# ${writeHeadingText([text(options.title)], context)}`;
  const page = [title, body, ...footnotes].filter((part) => part !== '').join('\n\n');
  // A page that begins with a divider must not look like one with front matter.
  const start = page.startsWith('---') ? '\n' : '';
  const frontMatter = serializeFrontMatter(options.frontMatter ?? {});
  if (page === '') return frontMatter;
  return frontMatter === '' ? `${start}${page}\n` : `${frontMatter}\n${page}\n`;
}
