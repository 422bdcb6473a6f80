import { type DocumentInput, type JSONDocument, limits } from '@bindery/contracts';
import { assignKeys, findUnsafeAddress, parseMarkdown, serializeMarkdown } from '@bindery/documents';
import { invalid } from '@bindery/service-kit';
import { refWriter } from '../pages/index.ts';
import type { CommentBody } from './events.ts';
import type { StoredBody } from './read-model/document.ts';

/** The form in which a body is answered. */
export type BodyFormat = 'document' | 'markdown';

const nothing: JSONDocument = { object: 'document', data: { schemaVersion: 1 }, nodes: [] };

const refuseLarge = (document: JSONDocument, field: string): void => {
  const { length } = JSON.stringify(document);
  if (length > limits.comment.document)
    throw invalid(
      'comment.too_large',
      `${field}: is ${length} characters as a document, of ${limits.comment.document} allowed`,
    );
};

/**
 * Reads what a comment says. Markdown is kept as it was written.
 * @param field for messages: `body.body`
 * @throws Problem invalid
 */
export const readCommentBody = (input: DocumentInput, field: string): CommentBody => {
  if ('document' in input && input.document !== undefined) {
    refuseLarge(input.document, `${field}.document`);
    const unsafe = findUnsafeAddress(input.document);
    if (unsafe !== undefined)
      throw invalid(
        'comment.unsafe_address',
        `${field}.document: cannot lead to ${JSON.stringify(unsafe.slice(0, 40))}`,
      );
    return { document: assignKeys(input.document, true) };
  }
  if (!('markdown' in input) || input.markdown === undefined) return { document: nothing };
  const markdown = input.markdown.toWellFormed();
  if (markdown.length > limits.comment.markdown)
    throw invalid('comment.too_large', `${field}.markdown: is longer than ${limits.comment.markdown} characters`);
  if (markdown.split('\n').length > limits.comment.lines)
    throw invalid('comment.too_large', `${field}.markdown: has more than ${limits.comment.lines} lines`);
  const { document } = parseMarkdown(markdown, { title: false, frontMatter: false });
  refuseLarge(document, `${field}.markdown`);
  return { document, markdown };
};

/** A body in the form that was asked for. */
export const writeCommentBody = (
  { json, markdown }: StoredBody,
  format: BodyFormat,
  scope: { readonly baseUrl: string; readonly spaceId: string },
): DocumentInput => {
  if (format === 'markdown' && markdown !== undefined) return { markdown };
  const document: JSONDocument = JSON.parse(json);
  if (format === 'document') return { document };
  return { markdown: serializeMarkdown(document, { resolveRef: refWriter({ ...scope, style: 'stable' }) }) };
};
