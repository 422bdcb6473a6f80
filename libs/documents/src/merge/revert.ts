import type { AnyBlock, Fragment, JSONDocument } from '@bindery/contracts/document';
import { allBlocks, childBlocks, fragmentsOf } from '../model/children.ts';
import { assignKeys, digest } from '../model/keys.ts';
import { align } from './align.ts';

/** What happened to one block of the top level between two versions. */
export interface BlockChange {
  readonly kind: 'added' | 'removed' | 'edited';
  readonly key?: string;
  readonly before?: AnyBlock;
  readonly after?: AnyBlock;
}

const keyOf = (block: AnyBlock): { key?: string } => (block.key === undefined ? {} : { key: block.key });

/** The blocks of the top level that differ, in the order of the new version, removed ones where they stood. */
export function diffBlocks(before: JSONDocument, after: JSONDocument): BlockChange[] {
  const matches = align(before.nodes, after.nodes);
  const changes: BlockChange[] = [];
  let next = 0;
  const add = (to: number) => {
    for (const block of after.nodes.slice(next, to)) changes.push({ kind: 'added', ...keyOf(block), after: block });
    next = to + 1;
  };
  for (const [index, old] of before.nodes.entries()) {
    const match = matches[index] ?? -1;
    if (match < 0) {
      changes.push({ kind: 'removed', ...keyOf(old), before: old });
      continue;
    }
    add(match);
    const now = after.nodes[match];
    if (now !== undefined && digest(now) !== digest(old))
      changes.push({ kind: 'edited', ...keyOf(now), before: old, after: now });
  }
  add(after.nodes.length);
  return changes;
}

/** Reverts inside one list of blocks and below. */
function revertList<T extends AnyBlock>(
  current: readonly T[],
  base: readonly T[],
  keys: ReadonlySet<string>,
  versions: ReadonlyMap<string, AnyBlock>,
): T[] {
  const here = new Set(current.map((block) => block.key));
  const result: T[] = [];
  for (const block of current) {
    const wanted = block.key !== undefined && keys.has(block.key);
    const old = block.key === undefined ? undefined : versions.get(block.key);
    // A block that the base does not have was added: taking the change back removes it.
    if (wanted) {
      if (old !== undefined) result.push(old as T);
    } else result.push(revertInside(block, old, keys, versions));
  }
  for (const [index, old] of base.entries()) {
    if (old.key === undefined || !keys.has(old.key) || here.has(old.key)) continue;
    const before = base.slice(0, index).map((block) => block.key);
    const at = result.findLastIndex((block) => block.key !== undefined && before.includes(block.key));
    result.splice(at + 1, 0, old);
  }
  return result;
}

function revertInside<T extends AnyBlock>(
  block: T,
  old: AnyBlock | undefined,
  keys: ReadonlySet<string>,
  versions: ReadonlyMap<string, AnyBlock>,
): T {
  if (block.type === 'code') return block;
  const copy: T = { ...block };
  const children = childBlocks(block);
  const before = old === undefined || old.type !== block.type ? [] : childBlocks(old);
  if (children.length > 0 || before.length > 0)
    Object.assign(copy, { nodes: revertList(children, before, keys, versions) });
  const fragments = fragmentsOf(block);
  if (fragments.length > 0) {
    const parts = new Map(old === undefined ? [] : fragmentsOf(old).map((part) => [part.fragment, part]));
    Object.assign(copy, {
      fragments: fragments.map(
        (part): Fragment => ({
          ...part,
          nodes: revertList(part.nodes, parts.get(part.fragment)?.nodes ?? [], keys, versions),
        }),
      ),
    });
  }
  return copy;
}

/**
 * Takes back the changes of single blocks: changed ones get their content of `base`, added ones go, removed ones come back
 * after the block they followed. Keys that neither version has are ignored.
 */
export function revertBlocks(current: JSONDocument, base: JSONDocument, keys: readonly string[]): JSONDocument {
  const versions = new Map<string, AnyBlock>();
  for (const block of allBlocks(base.nodes))
    if (block.key !== undefined && !versions.has(block.key)) versions.set(block.key, block);
  return assignKeys({ ...current, nodes: revertList(current.nodes, base.nodes, new Set(keys), versions) }, true);
}
