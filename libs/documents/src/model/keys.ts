import type { AnyBlock, JSONDocument } from '@bindery/contracts/document';
import { childBlocks, fragmentsOf } from './children.ts';

/** Two 32-bit multiplicative hashes over UTF-16 units (cyrb53): fast, stable, and only for telling content apart. */
function hash(value: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36).padStart(11, '0');
}

const digests = new WeakMap<object, string>();

/**
 * A digest of what a node says, without its keys: equal digests mean equal content. Remembered per object, so nodes must
 * not be changed once they are digested (everything in this library copies).
 */
export function digest(node: object): string {
  const known = digests.get(node);
  if (known !== undefined) return known;
  const made = hash(JSON.stringify(node, (name, value: unknown) => (name === 'key' ? undefined : value)));
  digests.set(node, made);
  return made;
}

/** Blocks that get keys: all but code lines, which are too many and never addressed alone. */
const keyed = (block: AnyBlock): boolean => block.type !== 'code-line';

function withKeys<T extends AnyBlock>(block: T, taken: Map<string, number>, keep: boolean): T {
  if (!keyed(block)) return block;
  const own = keep && block.key !== undefined && !taken.has(block.key) ? block.key : unique(digest(block), taken);
  taken.set(own, taken.get(own) ?? 1);
  const { object, type, key: _, ...rest } = block;
  const copy = { object, type, key: own, ...rest } as unknown as T;
  const children = childBlocks(block);
  if (children.length > 0) Object.assign(copy, { nodes: children.map((child) => withKeys(child, taken, keep)) });
  const fragments = fragmentsOf(block);
  if (fragments.length > 0)
    Object.assign(copy, {
      fragments: fragments.map((part) => ({ ...part, nodes: part.nodes.map((child) => withKeys(child, taken, keep)) })),
    });
  return copy;
}

function unique(base: string, taken: Map<string, number>): string {
  for (let count = taken.get(base) ?? 0; ; count++) {
    const candidate = count === 0 ? base : `${base}${count}`;
    if (taken.has(candidate)) continue;
    taken.set(base, count + 1);
    return candidate;
  }
}

/**
 * Gives every block a key that follows from its content; equal blocks are numbered in order, so keys are unique in the
 * document and the same input always gets the same keys.
 * @param keep leave keys that are there and not yet used in the document
 */
export function assignKeys(document: JSONDocument, keep = false): JSONDocument {
  const taken = new Map<string, number>();
  return { ...document, nodes: document.nodes.map((block) => withKeys(block, taken, keep)) };
}
