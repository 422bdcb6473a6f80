import type { AnyBlock, Fragment, JSONDocument } from '@bindery/contracts/document';
import { childBlocks, fragmentsOf, phrasingOf } from './children.ts';

/** Taken out of its object once: it is called for every character, and looking up a global costs more than it does. */
const { imul } = Math;

/** Two 32-bit multiplicative hashes over UTF-16 units (cyrb53): fast, stable, and only for telling content apart. */
function hash(value: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < value.length; index++) {
    const unit = value.charCodeAt(index);
    high = imul(high ^ unit, 2654435761);
    low = imul(low ^ unit, 1597334677);
  }
  high = imul(high ^ (high >>> 16), 2246822507) ^ imul(low ^ (low >>> 13), 3266489909);
  low = imul(low ^ (low >>> 16), 2246822507) ^ imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36).padStart(11, '0');
}

/** JSON without the keys of nodes. */
function plainJson(value: unknown): string {
  const json = JSON.stringify(value) ?? '';
  if (!json.includes('"key":')) return json;
  return JSON.stringify(value, (name, inner: unknown) => (name === 'key' ? undefined : inner)) ?? '';
}

const digests = new WeakMap<object, string>();

const fragmentDigest = (fragment: Fragment): string =>
  `${fragment.fragment ?? ''}\u0000${fragment.type ?? ''}\u0000${fragment.nodes.map(digest).join(',')}`;

/**
 * A digest of what a block says, without its keys: equal digests mean equal content. Remembered per object, so blocks must
 * not be changed once they are digested (everything in this library copies).
 */
export function digest(block: AnyBlock): string {
  const known = digests.get(block);
  if (known !== undefined) return known;
  const data = 'data' in block ? block.data : undefined;
  const meta = 'meta' in block ? block.meta : undefined;
  const parts = [
    block.type,
    // Data of a table is keyed by column and row, and may hold a property of its own that is called `key`.
    // Data that says nothing is the same as none.
    data === undefined || Object.keys(data).length === 0 ? '' : JSON.stringify(data),
    meta === undefined ? '' : JSON.stringify(meta),
    phrasingOf(block).map(plainJson).join(','),
    childBlocks(block).map(digest).join(','),
    fragmentsOf(block).map(fragmentDigest).join('\u0001'),
  ];
  const made = hash(parts.join('\u0002'));
  // Lines of code are the most numerous and the cheapest, and their block remembers.
  if (block.type !== 'code-line') digests.set(block, made);
  return made;
}

/** Notes that a copy of a block says the same, whatever its keys. */
export const rememberDigest = (copy: AnyBlock, of: AnyBlock): void => {
  digests.set(copy, digest(of));
};

/** Blocks that get keys: all but code lines, which are too many and never addressed alone. */
const isKeyed = (block: AnyBlock): boolean => block.type !== 'code-line';

interface Keys {
  taken: Set<string>;
  /** How often a digest was used as the base of a key. */
  counts: Map<string, number>;
  /** Keys that blocks of the document bring along; absent when all are made anew. */
  given: Set<string> | undefined;
}

function chooseKey(block: AnyBlock, keys: Keys): string {
  if (keys.given !== undefined && block.key !== undefined && !keys.taken.has(block.key)) return block.key;
  const base = digest(block);
  for (let count = keys.counts.get(base) ?? 0; ; count++) {
    const candidate = count === 0 ? base : `${base}${count}`;
    if (keys.taken.has(candidate) || keys.given?.has(candidate) === true) continue;
    keys.counts.set(base, count + 1);
    return candidate;
  }
}

function withKeys<T extends AnyBlock>(block: T, keys: Keys): T {
  if (!isKeyed(block)) return block;
  const key = chooseKey(block, keys);
  keys.taken.add(key);
  const { object, type, key: _, ...rest } = block;
  const copy = { object, type, key, ...rest } as unknown as T;
  const children = childBlocks(block);
  if (children.length > 0 && block.type !== 'code')
    Object.assign(copy, { nodes: children.map((child) => withKeys(child, keys)) });
  const fragments = fragmentsOf(block);
  if (fragments.length > 0)
    Object.assign(copy, {
      fragments: fragments.map((part) => ({ ...part, nodes: part.nodes.map((child) => withKeys(child, keys)) })),
    });
  rememberDigest(copy, block);
  return copy;
}

/** Collects the keys of a block and below; whether each of these blocks has a key of its own. */
function collectKeys(block: AnyBlock, into: Set<string>): boolean {
  if (!isKeyed(block)) return true;
  let complete = block.key !== undefined && !into.has(block.key);
  if (block.key !== undefined) into.add(block.key);
  for (const child of childBlocks(block)) complete = collectKeys(child, into) && complete;
  for (const fragment of fragmentsOf(block))
    for (const child of fragment.nodes) complete = collectKeys(child, into) && complete;
  return complete;
}

/**
 * Gives every block a key that follows from its content; equal blocks are numbered in order, so keys are unique in the
 * document and the same input always gets the same keys.
 * @param keep leave keys that are there, the first of each where one occurs twice
 */
export function assignKeys(document: JSONDocument, keep = false): JSONDocument {
  const given = keep ? new Set<string>() : undefined;
  if (given !== undefined) {
    let complete = true;
    for (const block of document.nodes) complete = collectKeys(block, given) && complete;
    if (complete) return document;
  }
  const keys: Keys = { taken: new Set(), counts: new Map(), given };
  return { ...document, nodes: document.nodes.map((block) => withKeys(block, keys)) };
}
