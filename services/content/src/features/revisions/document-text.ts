import type { JSONDocument } from '@bindery/contracts';

const texts = new WeakMap<JSONDocument, string>();

/**
 * A body as JSON. Remembered as long as the body is: it is measured when a revision is cut into events and stored when
 * they are projected, a moment later. Bodies are never changed once they are made.
 */
export const textOfDocument = (document: JSONDocument): string => {
  const known = texts.get(document);
  if (known !== undefined) return known;
  const text = JSON.stringify(document);
  texts.set(document, text);
  return text;
};
