import type { DocumentInput, JSONDocument } from '@bindery/contracts';
import { limits } from '@bindery/contracts';
import { assignKeys, parseMarkdown } from '@bindery/documents';
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
 * Reads the content of a page.
 * @param field for messages: `changes[0].document`
 * @throws Problem invalid
 */
export const readBody = (input: DocumentInput, field: string): GivenBody => {
  if ('document' in input && input.document !== undefined)
    return { document: assignKeys(input.document, true), isMarkdown: false, fields: {} };
  if (!('markdown' in input) || input.markdown === undefined)
    return { document: emptyDocument, isMarkdown: false, fields: {} };
  const { frontMatter, title, document } = parseMarkdown(input.markdown);
  const fields = fieldsOf(frontMatter);
  if (title !== undefined) {
    if (title.length > limits.page_.title)
      throw fault('title_too_long', `${field}.markdown`, `the heading is longer than ${limits.page_.title} characters`);
    fields.title = title;
  }
  return { document, isMarkdown: true, fields };
};
