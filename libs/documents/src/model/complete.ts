import type { AnyBlock, Block } from '@bindery/contracts/document';
import { allBlocks } from './children.ts';

/** Blocks whose `data` is there also when it says nothing (gaps-filled section 6: only some types leave it out). */
const withData = new Set<AnyBlock['type']>([
  'heading-1',
  'heading-2',
  'heading-3',
  'list-ordered',
  'divider',
  'code-line',
  'stepper-step',
  'columns',
  'column',
]);

/** Blocks whose `fragments` are there also when there are none. */
const withFragments = new Set<AnyBlock['type']>(['image', 'table']);

/**
 * Gives new blocks the fields that clients read without asking whether they are there.
 * @param blocks made just now and seen by nobody else: they are changed in place
 */
export function complete(blocks: readonly Block[]): void {
  for (const block of allBlocks(blocks)) {
    if (withData.has(block.type) && !('data' in block)) Object.assign(block, { data: {} });
    if (withFragments.has(block.type) && !('fragments' in block)) Object.assign(block, { fragments: [] });
  }
}
