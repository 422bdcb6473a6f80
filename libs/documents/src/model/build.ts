import type { Block, ContentRef, Fragment, Leaf, Mark, Paragraph, Phrasing, Text } from '@bindery/contracts/document';

/** A leaf with its marks. */
export const leaf = (text: string, marks: Mark[] = []): Leaf => ({ object: 'leaf', text, marks });

/** A text node of one unmarked leaf. */
export const text = (value: string): Text => ({ object: 'text', leaves: [leaf(value)] });

export const paragraph = (nodes: Phrasing[]): Paragraph => ({ object: 'block', type: 'paragraph', nodes });

/** A paragraph of plain text. */
export const plainParagraph = (value: string): Paragraph => paragraph(value === '' ? [] : [text(value)]);

export const fragment = (name: string, nodes: Block[]): Fragment => ({ object: 'fragment', fragment: name, nodes });

export const urlRef = (url: string): ContentRef => ({ kind: 'url', url });

/** Copies only the properties that have a value, so that absent stays absent. */
export function present<T extends object>(properties: { [K in keyof T]: T[K] | undefined }): T {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties)) if (value !== undefined) copy[name] = value;
  return copy as T;
}
