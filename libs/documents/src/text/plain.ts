import type { AnyBlock, JSONDocument, Phrasing } from '@bindery/contracts/document';
import { allBlocks, phrasingOf } from '../model/children.ts';

/** Comments and underlining are text in documents (the reference has no nodes for them), but nobody reads them. */
const unread = /<!--[\s\S]*?-->|<\/?u>/g;

function phrasingText(nodes: readonly Phrasing[]): string {
  return nodes
    .map((node): string => {
      if (node.object === 'text') return node.leaves.map((leaf) => leaf.text).join('');
      switch (node.type) {
        case 'link':
        case 'annotation':
          return phrasingText(node.nodes);
        case 'button':
          return node.data.label;
        case 'inline-math':
          return node.data.formula;
        case 'inline-image':
          return node.data.alt ?? node.data.caption ?? '';
        case 'emoji':
          return String.fromCodePoint(
            ...node.data.code
              .split('-')
              .map((point) => Number.parseInt(point, 16))
              .filter((point) => point > 0 && point <= 0x10ffff),
          );
        default:
          return '';
      }
    })
    .join('');
}

/** The words of inline content. */
export const textOfPhrasing = (nodes: readonly Phrasing[]): string => phrasingText(nodes).replace(unread, '');

/** The words that a block itself holds, without those of the blocks inside it. */
export function ownText(block: AnyBlock): string {
  const words = textOfPhrasing(phrasingOf(block));
  if (words !== '') return words;
  switch (block.type) {
    case 'tabs-item':
    case 'code':
      return block.data?.title ?? '';
    case 'image':
      return block.data.alt ?? '';
    case 'math':
      return block.data.formula;
    case 'prompt':
      return block.data.description;
    case 'table':
      return Object.values(block.data.definition)
        .map((column) => column.title)
        .filter((title) => title !== '')
        .join('\n');
    case 'swagger':
    case 'openapi-operation':
      return `${block.data.method} ${block.data.path}`.trim();
    default:
      return '';
  }
}

/** All words of some blocks, one line per paragraph, code line, title. */
export function textOfBlocks(blocks: Iterable<AnyBlock>): string {
  const lines: string[] = [];
  for (const block of blocks) {
    const words = ownText(block).trim();
    if (words !== '') lines.push(words);
  }
  return lines.join('\n');
}

/** The words of a document without markup, for search and comparison. */
export const plainText = (document: JSONDocument): string => textOfBlocks(allBlocks(document.nodes));
