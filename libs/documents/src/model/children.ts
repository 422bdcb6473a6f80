import type { Annotation, AnyBlock, Block, Fragment, Inline, Phrasing } from '@bindery/contracts/document';

/** Any node that has an `object` of block or inline, for code that does not care which. */
export type AnyNode = AnyBlock | Inline;

const phrasingTypes = new Set<string>(['paragraph', 'heading-1', 'heading-2', 'heading-3', 'code-line']);

/** The inline content of a paragraph, heading or code line; empty for all other blocks. */
export function phrasingOf(block: AnyBlock): readonly Phrasing[] {
  return phrasingTypes.has(block.type) && 'nodes' in block ? (block.nodes as Phrasing[]) : [];
}

/** The blocks directly inside a block, not those in its fragments. */
export function childBlocks(block: AnyBlock): readonly AnyBlock[] {
  if (phrasingTypes.has(block.type) || !('nodes' in block)) return [];
  return block.nodes as AnyBlock[];
}

/** The fragments of a void block. */
export function fragmentsOf(block: AnyBlock): readonly Fragment[] {
  return 'fragments' in block && block.fragments !== undefined ? block.fragments : [];
}

const annotationsIn = (nodes: readonly Phrasing[]): Annotation[] =>
  nodes.flatMap((node) => {
    if (node.object === 'text') return [];
    if (node.type === 'annotation') return [node];
    return node.type === 'link' ? annotationsIn(node.nodes) : [];
  });

/** Every block below a block in reading order: children, fragments, bodies of annotations. */
export function* descendants(block: AnyBlock): Generator<AnyBlock> {
  for (const child of childBlocks(block)) {
    yield child;
    yield* descendants(child);
  }
  for (const fragment of fragmentsOf(block)) yield* allBlocks(fragment.nodes);
  for (const annotation of annotationsIn(phrasingOf(block)))
    for (const fragment of annotation.fragments) yield* allBlocks(fragment.nodes);
}

/** Every block of a list of blocks and below, in reading order. */
export function* allBlocks(blocks: readonly Block[]): Generator<AnyBlock> {
  for (const block of blocks) {
    yield block;
    yield* descendants(block);
  }
}
