import type { Block, ContentRef, Fragment, Leaf, Mark, Paragraph, Phrasing, Text } from '@bindery/contracts/document';

/** A leaf with its marks. */
export const leaf = (text: string, marks: Mark[] = []): Leaf => ({ object: 'leaf', text, marks });

/** A text node of one unmarked leaf. */
export const text = (value: string): Text => ({ object: 'text', leaves: [leaf(value)] });

export const paragraph = (nodes: Phrasing[]): Paragraph => ({ object: 'block', type: 'paragraph', nodes });

/** A paragraph of plain text. */
export const plainParagraph = (value: string): Paragraph => paragraph(value === '' ? [] : [text(value)]);

/** A fragment under a name of its own, as cells of tables have it. */
export const fragment = (name: string, nodes: Block[]): Fragment => ({ object: 'fragment', fragment: name, nodes });

/** A part that every block of its kind has under the same name: clients look for it by `type`. */
export const part = (
  name: 'caption' | 'expandable-title' | 'expandable-body' | 'annotation-body',
  nodes: Block[],
): Fragment => ({ ...fragment(name, nodes), type: name });

/** Whether a fragment is that part, by whichever of its two names. */
export const isPart = (one: Fragment, name: string): boolean => one.fragment === name || one.type === name;

export const urlRef = (url: string): ContentRef => ({ kind: 'url', url });

/** Copies only the properties that have a value, so that absent stays absent. */
export function present<T extends object>(properties: { [K in keyof T]: T[K] | undefined }): T {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties)) if (value !== undefined) copy[name] = value;
  return copy as T;
}
