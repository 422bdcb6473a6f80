import type { DocumentInput, JSONDocument } from '@bindery/contracts';
import { limits } from '@bindery/contracts';
import { assignKeys, findUnsafeAddress, parseMarkdown } from '@bindery/documents';
import { fault } from './faults.ts';
import { type FrontMatterFields, fieldsOf } from './front-matter.ts';

/** What a caller gave as the content of a page. */
export interface GivenBody {
  readonly document: JSONDocument;
  /** Its addresses are yet to be resolved. */
  readonly isMarkdown: boolean;
  /** From front matter and the leading heading; they win over the fields beside the document (gaps-filled section 7). */
  readonly fields: FrontMatterFields;
}

/** The body of a page that has none. */
export const emptyDocument: JSONDocument = { object: 'document', data: { schemaVersion: 1 }, nodes: [] };

/**
 * The body that a page has by id; empty only for a page that never had one.
 * @throws Error for a body that nobody loaded: taken for empty, its text would be lost
 */
export const loadedBody = (id: string | undefined, loaded: ReadonlyMap<string, JSONDocument>): JSONDocument => {
  if (id === undefined) return emptyDocument;
  const body = loaded.get(id);
  if (body === undefined) throw new Error(`body ${id} is needed and was not loaded`);
  return body;
};

/** Lines up to one more than are allowed; the rest need not be counted. */
const linesOf = (text: string): number => {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0 && lines <= limits.markdown.lines; at = text.indexOf('\n', at + 1))
    lines += 1;
  return lines;
};

const refuseLarge = (document: JSONDocument, field: string): void => {
  const { length } = JSON.stringify(document);
  if (length > limits.document.maxLength)
    throw fault(
      'too_large',
      field,
      `is ${length} characters as a document, of ${limits.document.maxLength} allowed; divide the page`,
    );
};

const refuseUnsafe = (value: unknown, field: string): void => {
  const found = findUnsafeAddress(value);
  if (found !== undefined)
    throw fault('unsafe_address', field, `cannot lead to the address ${JSON.stringify(found.slice(0, 40))}`);
};

/**
 * Reads the content of a page.
 * @param field for messages: `changes[0].document`
 * @throws Problem invalid
 */
export const readBody = (input: DocumentInput, field: string): GivenBody => {
  if ('document' in input && input.document !== undefined) {
    refuseLarge(input.document, `${field}.document`);
    refuseUnsafe(input.document, `${field}.document`);
    return { document: assignKeys(input.document, true), isMarkdown: false, fields: {} };
  }
  if (!('markdown' in input) || input.markdown === undefined)
    return { document: emptyDocument, isMarkdown: false, fields: {} };
  if (linesOf(input.markdown) > limits.markdown.lines)
    throw fault('too_many_lines', `${field}.markdown`, `has more than ${limits.markdown.lines} lines`);
  const { frontMatter, title, document } = parseMarkdown(input.markdown);
  // Markdown grows at most some hundredfold on its way to blocks, so short texts need no measuring.
  if (input.markdown.length > limits.document.maxLength / 400) refuseLarge(document, `${field}.markdown`);
  refuseUnsafe(document, `${field}.markdown`);
  const fields = fieldsOf(frontMatter);
  if (title !== undefined) {
    if (title.length > limits.page_.title)
      throw fault('title_too_long', `${field}.markdown`, `the heading is longer than ${limits.page_.title} characters`);
    fields.title = title;
  }
  return { document, isMarkdown: true, fields };
};
