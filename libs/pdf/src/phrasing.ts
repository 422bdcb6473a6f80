import type { ContentRef, Leaf, Phrasing } from '@bindery/contracts/document';
import { textOfPhrasing } from '@bindery/documents';
import type { FontStyle } from './fonts.ts';
import type { Piece } from './paper.ts';

/** Where references lead, in the file or out of it. */
export type LinkTo = (ref: ContentRef) => { readonly link?: string; readonly title?: string };

const styleOf = (leaf: Leaf, bold: boolean): Omit<Piece, 'text'> => {
  const marks = new Set<string>(leaf.marks.map(({ type }) => type));
  if (marks.has('code') || marks.has('keyboard')) return { font: 'mono', color: '#8250df' };
  const isBold = bold || marks.has('bold');
  const font: FontStyle = marks.has('italic') ? (isBold ? 'boldItalic' : 'italic') : isBold ? 'bold' : 'regular';
  return { font, ...(marks.has('strikethrough') ? { strike: true } : {}) };
};

/** Inline content as pieces of text. */
export const pieces = (nodes: readonly Phrasing[], linkTo: LinkTo, bold = false): readonly Piece[] =>
  nodes.flatMap((node): readonly Piece[] => {
    const plain = (text: string): readonly Piece[] => (text === '' ? [] : [{ text, font: bold ? 'bold' : 'regular' }]);
    if (node.object === 'text')
      return node.leaves
        .filter(({ text }) => text !== '')
        .map((leaf) => ({ ...styleOf(leaf, bold), text: leaf.text.replace(/<!--[\s\S]*?-->|<\/?u>/g, '') }))
        .filter(({ text }) => text !== '');
    switch (node.type) {
      case 'link': {
        const { link, title } = linkTo(node.data.ref);
        const inside = pieces(node.nodes, linkTo, bold);
        const shown = inside.length > 0 ? inside : plain(title ?? link ?? '');
        return link === undefined ? shown : shown.map((piece) => ({ ...piece, link, underline: true }));
      }
      case 'annotation':
        return pieces(node.nodes, linkTo, bold);
      case 'mention': {
        const { link, title } = linkTo(node.data.ref);
        const text = title ?? '';
        return text === '' ? [] : [{ text, font: 'regular', ...(link === undefined ? {} : { link }) }];
      }
      case 'button': {
        const { link } = node.data.ref === undefined ? {} : linkTo(node.data.ref);
        return [{ text: node.data.label, font: 'bold', ...(link === undefined ? {} : { link, underline: true }) }];
      }
      case 'inline-math':
        return [{ text: node.data.formula, font: 'mono' }];
      case 'expression':
        return [{ text: `{{ ${node.data.expression} }}`, font: 'mono' }];
      default:
        return plain(textOfPhrasing([node]));
    }
  });
