import type { AnyBlock, Fragment, JSONDocument } from '@bindery/contracts/document';
import { childBlocks, fragmentsOf } from '../model/children.ts';
import { assignKeys, rememberDigest } from '../model/keys.ts';
import { align } from './align.ts';

/** Blocks of one level with the keys of their counterparts; those without one lose theirs and get a new one later. */
function carry<T extends AnyBlock>(previous: readonly AnyBlock[], next: readonly T[]): T[] {
  const partner = new Map<number, AnyBlock>();
  for (const [index, match] of align(previous, next).entries()) {
    const block = previous[index];
    if (match >= 0 && block !== undefined) partner.set(match, block);
  }
  return next.map((block, index) => withKeyOf(partner.get(index), block));
}

function withKeyOf<T extends AnyBlock>(previous: AnyBlock | undefined, next: T): T {
  const { key: _, ...rest } = next;
  const copy = rest as unknown as T;
  if (previous?.key !== undefined) copy.key = previous.key;
  const children = childBlocks(next);
  if (children.length > 0 && next.type !== 'code')
    Object.assign(copy, { nodes: carry(previous === undefined ? [] : childBlocks(previous), children) });
  const fragments = fragmentsOf(next);
  if (fragments.length > 0) {
    const before = new Map(previous === undefined ? [] : fragmentsOf(previous).map((part) => [part.fragment, part]));
    Object.assign(copy, {
      fragments: fragments.map(
        (part): Fragment => ({ ...part, nodes: carry(before.get(part.fragment)?.nodes ?? [], part.nodes) }),
      ),
    });
  }
  rememberDigest(copy, next);
  return copy;
}

/**
 * Gives the blocks of a new version the keys that they had in the previous one, where they are the same or much alike, at
 * every level. Edits arrive as freshly read markdown whose keys follow from content; this keeps comments and reverts on
 * their blocks. All keys of the result are unique.
 */
export function carryKeys(previous: JSONDocument, next: JSONDocument): JSONDocument {
  if (previous.nodes.length === 0) return assignKeys(next, true); // nothing to carry
  return assignKeys({ ...next, nodes: carry(previous.nodes, next.nodes) }, true);
}
