import type { AnyBlock, Block } from '@bindery/contracts/document';
import { allBlocks, phrasingOf } from '../../model/children.ts';
import type { WriteContext } from './context.ts';
import { writeHtmlInlines } from './html-inlines.ts';

/**
 * Writes the blocks of a table cell or caption as HTML on one line: paragraphs, headings and lists; of other blocks the
 * text is kept.
 * @param wrap put a single paragraph into `<p>` as well
 */
export function writeCellBlocks(blocks: readonly Block[], context: WriteContext, wrap = false): string {
  const [only] = blocks;
  if (!wrap && blocks.length === 1 && only?.type === 'paragraph' && only.data?.align === undefined)
    return writeHtmlInlines(only.nodes, context);
  return blocks.map((block) => writeCellBlock(block, context)).join('');
}

const sides = { start: 'left', center: 'center', end: 'right' } as const;
const names = { paragraph: 'p', 'heading-1': 'h2', 'heading-2': 'h3', 'heading-3': 'h4' } as const;

function writeCellBlock(block: AnyBlock, context: WriteContext): string {
  switch (block.type) {
    case 'paragraph':
    case 'heading-1':
    case 'heading-2':
    case 'heading-3': {
      const level = block.type === 'paragraph' ? undefined : block.data?.level;
      const name = level === undefined ? names[block.type] : `h${level}`;
      const align = block.data?.align === undefined ? '' : ` align="${sides[block.data.align]}"`;
      const id = block.type === 'paragraph' ? undefined : block.data?.id;
      const anchor = id === undefined ? '' : `<a href="#${id}" id="${id}"></a>`;
      return `<${name}${align}>${writeHtmlInlines(block.nodes, context)}${anchor}</${name}>`;
    }
    case 'list-ordered':
    case 'list-unordered':
    case 'list-tasks': {
      const start =
        block.type === 'list-ordered' && block.data?.start !== undefined ? ` start="${block.data.start}"` : '';
      const name = block.type === 'list-ordered' ? 'ol' : 'ul';
      const items = block.nodes.map((item) => `<li>${writeCellBlocks(item.nodes, context)}</li>`);
      return `<${name}${start}>${items.join('')}</${name}>`;
    }
    default:
      return [...allBlocks([block as Block])]
        .map((inner) => writeHtmlInlines(phrasingOf(inner), context))
        .filter((text) => text !== '')
        .map((text) => `<p>${text}</p>`)
        .join('');
  }
}
