import type { AnyBlock, Block, Fragment, JSONDocument } from '@bindery/contracts/document';
import { childBlocks, fragmentsOf, phrasingOf } from '../model/children.ts';
import { assignKeys, digest } from '../model/keys.ts';
import { align } from './align.ts';

/** Two changes of the same place. The document then holds both versions, ours first. */
export interface MergeConflict {
  /** Key of the block in the base; absent when both sides added something in the same place. */
  readonly key?: string;
  readonly kind: 'edited' | 'edited-deleted' | 'deleted-edited' | 'inserted';
  readonly ours: readonly AnyBlock[];
  readonly theirs: readonly AnyBlock[];
}

export interface MergeInput {
  readonly base: JSONDocument;
  readonly ours: JSONDocument;
  readonly theirs: JSONDocument;
}

const same = (one: AnyBlock | undefined, other: AnyBlock | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && digest(one) === digest(other));

const sameList = (one: readonly AnyBlock[], other: readonly AnyBlock[]): boolean =>
  one.length === other.length && one.every((block, index) => same(block, other[index]));

const sameJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Which side changed a value; `undefined` when both did, differently. */
function pick<T>(base: T, ours: T, theirs: T, equal: (one: T, other: T) => boolean): { value: T } | undefined {
  if (equal(ours, theirs) || equal(theirs, base)) return { value: ours };
  return equal(ours, base) ? { value: theirs } : undefined;
}

/** Between equal versions the one whose key is not that of the base: some side gave the block a new key. */
const unchanged = <T extends AnyBlock>(base: T, ours: T, theirs: T): T => (ours.key === base.key ? theirs : ours);

/** The blocks of one side around the blocks of the base: `slots[i]` is what became of `base[i]`. */
interface Sides<T> {
  slots: (T | undefined)[];
  /** `added[i]` stands before `base[i]`, the last one at the end. */
  added: T[][];
}

function arrange<T extends AnyBlock>(base: readonly T[], version: readonly T[]): Sides<T> {
  const matches = align(base, version);
  const slots = base.map((_, index): T | undefined => version[matches[index] ?? -1]);
  const added: T[][] = base.map(() => []);
  added.push([]);
  let next = 0;
  let slot = 0;
  for (const [index, match] of matches.entries()) {
    if (match < 0) continue;
    added[slot]?.push(...version.slice(next, match));
    next = match + 1;
    slot = index + 1;
  }
  added[slot]?.push(...version.slice(next));
  return { slots, added };
}

class Merger {
  readonly conflicts: MergeConflict[] = [];

  list<T extends AnyBlock>(base: readonly T[], ours: readonly T[], theirs: readonly T[]): T[] {
    const simple = pick(base, ours, theirs, sameList);
    if (simple !== undefined && !sameList(ours, theirs)) return [...simple.value];
    const [left, right] = [arrange(base, ours), arrange(base, theirs)];
    const merged: T[] = [];
    for (let index = 0; index <= base.length; index++) {
      merged.push(...this.added(left.added[index] ?? [], right.added[index] ?? []));
      const block = base[index];
      if (block !== undefined) merged.push(...this.slot(block, left.slots[index], right.slots[index]));
    }
    return merged;
  }

  private added<T extends AnyBlock>(ours: T[], theirs: T[]): T[] {
    if (ours.length === 0 || theirs.length === 0) return ours.length === 0 ? theirs : ours;
    if (sameList(ours, theirs)) return ours;
    this.conflicts.push({ kind: 'inserted', ours, theirs });
    return [...ours, ...theirs];
  }

  private slot<T extends AnyBlock>(base: T, ours: T | undefined, theirs: T | undefined): T[] {
    const key = base.key === undefined ? {} : { key: base.key };
    if (ours === undefined || theirs === undefined) {
      const kept = ours ?? theirs;
      if (kept === undefined || same(kept, base)) return [];
      const kind = ours === undefined ? 'deleted-edited' : 'edited-deleted';
      this.conflicts.push({
        ...key,
        kind,
        ours: ours === undefined ? [] : [ours],
        theirs: theirs === undefined ? [] : [theirs],
      });
      return [kept];
    }
    if (same(ours, theirs)) return [same(ours, base) ? unchanged(base, ours, theirs) : ours];
    if (same(theirs, base)) return [ours];
    if (same(ours, base)) return [theirs];
    const inner = this.inside(base, ours, theirs);
    if (inner !== undefined) return [inner];
    this.conflicts.push({ ...key, kind: 'edited', ours: [ours], theirs: [theirs] });
    return [ours, theirs];
  }

  /** Merges what a container holds, when both sides left it the same kind of container; undefined when that cannot be. */
  private inside<T extends AnyBlock>(base: T, ours: T, theirs: T): T | undefined {
    if (base.type !== ours.type || base.type !== theirs.type || base.type === 'table' || base.type === 'code')
      return undefined;
    if ([base, ours, theirs].some((block) => phrasingOf(block).length > 0)) return undefined;
    const [before, left, right] = [childBlocks(base), childBlocks(ours), childBlocks(theirs)];
    const fragments = [fragmentsOf(base), fragmentsOf(ours), fragmentsOf(theirs)] as const;
    if (before.length === 0 && fragments[0].length === 0) return undefined;
    const { nodes: _n, fragments: _f, key: _k, ...rest } = { nodes: undefined, fragments: undefined, ...base };
    const own = (block: T) => {
      const {
        nodes: _nodes,
        fragments: _fragments,
        key: _key,
        ...shell
      } = { nodes: undefined, fragments: undefined, ...block };
      return shell;
    };
    const shell = pick<object>(rest, own(ours), own(theirs), sameJson);
    if (shell === undefined) return undefined;
    const names = fragments.map((list) => list.map((part) => part.fragment).join('\n'));
    if (names[0] !== names[1] || names[0] !== names[2]) return undefined;
    const merged = { ...shell.value, ...(ours.key === undefined ? {} : { key: ours.key }) } as T;
    if ('nodes' in base) Object.assign(merged, { nodes: this.list(before, left, right) });
    if (fragments[0].length > 0)
      Object.assign(merged, {
        fragments: fragments[0].map((part, index): Fragment => {
          const [one, other] = [fragments[1][index], fragments[2][index]];
          return { ...(one ?? part), nodes: this.list<Block>(part.nodes, one?.nodes ?? [], other?.nodes ?? []) };
        }),
      });
    return merged;
  }
}

/** Properties of the document itself; ours where both sides changed one. */
function mergeData({ base, ours, theirs }: MergeInput): JSONDocument['data'] {
  const merged: JSONDocument['data'] = {};
  for (const name of new Set([...Object.keys(ours.data), ...Object.keys(theirs.data)])) {
    const value = sameJson(ours.data[name], base.data[name]) ? theirs.data[name] : ours.data[name];
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}

/**
 * Three-way merge. Blocks are matched between versions (see `align`); changes of different blocks come together, the same
 * change of both sides is taken once, and containers that both sides changed are merged block by block inside. Where both
 * changed the same block, both versions stay, ours first, and the conflict is reported: no text of either side is lost.
 */
export function mergeDocuments(input: MergeInput): { document: JSONDocument; conflicts: MergeConflict[] } {
  const { base, ours, theirs } = input;
  const untouched = (one: JSONDocument, other: JSONDocument): boolean =>
    sameList(one.nodes, other.nodes) && sameJson(one.data, other.data);
  if (untouched(theirs, base) || untouched(theirs, ours))
    return { document: untouched(ours, base) ? theirs : ours, conflicts: [] };
  if (untouched(ours, base)) return { document: theirs, conflicts: [] };
  const merger = new Merger();
  const nodes = merger.list(base.nodes, ours.nodes, theirs.nodes);
  const document = assignKeys({ ...ours, data: mergeData(input), nodes }, true);
  return { document, conflicts: merger.conflicts };
}
