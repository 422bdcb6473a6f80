import type { AnyBlock } from '@bindery/contracts/document';
import { descendants } from '../model/children.ts';
import { digest } from '../model/keys.ts';
import { ownText } from '../text/plain.ts';

/** Ranges up to this are compared exactly at once; larger ones are first cut at blocks that occur once on both sides. */
const fewCells = 2500;
/** Largest table that the exact comparison may fill. */
const maxCells = 1_000_000;
/** Largest range in which changed blocks are matched by how alike they are. */
const maxSimilarCells = 10_000;
const minSimilarity = 0.35;

/** For each block of the first list the index of its counterpart in the second, or -1; never crossing. */
export type Alignment = Int32Array;

const words = new WeakMap<object, Map<string, number>>();

function wordsOf(block: AnyBlock): Map<string, number> {
  const known = words.get(block);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  const add = (text: string) => {
    for (const word of text.match(/[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [])
      counts.set(word, (counts.get(word) ?? 0) + 1);
  };
  add(ownText(block));
  for (const inner of descendants(block)) add(ownText(inner));
  words.set(block, counts);
  return counts;
}

const kin = (block: AnyBlock): string =>
  block.type.startsWith('heading-') ? 'paragraph' : block.type.replace(/^list-(?!item).*/, 'list');

/** How alike two blocks are, from 0 to 1: shared words of all words (Dice). */
export function similarity(one: AnyBlock, other: AnyBlock): number {
  if (kin(one) !== kin(other)) return 0;
  if (digest(one) === digest(other)) return 1;
  const [left, right] = [wordsOf(one), wordsOf(other)];
  let total = 0;
  let shared = 0;
  for (const [word, count] of left) {
    total += count;
    shared += Math.min(count, right.get(word) ?? 0);
  }
  for (const count of right.values()) total += count;
  if (total === 0) return 0.5;
  return (2 * shared) / total;
}

/** Finds a best monotone matching of a small range by dynamic programming. */
function bestMatching(
  rows: number,
  columns: number,
  score: (row: number, column: number) => number,
): [number, number][] {
  const width = columns + 1;
  const table = new Float64Array((rows + 1) * width);
  const scores = new Float64Array(rows * columns);
  for (let row = rows - 1; row >= 0; row--)
    for (let column = columns - 1; column >= 0; column--) {
      const own = score(row, column);
      scores[row * columns + column] = own;
      const skip = Math.max(table[(row + 1) * width + column] ?? 0, table[row * width + column + 1] ?? 0);
      const take = own > 0 ? own + (table[(row + 1) * width + column + 1] ?? 0) : 0;
      table[row * width + column] = Math.max(skip, take);
    }
  const pairs: [number, number][] = [];
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    const own = scores[row * columns + column] ?? 0;
    const best = table[row * width + column] ?? 0;
    if (own > 0 && best === own + (table[(row + 1) * width + column + 1] ?? 0)) pairs.push([row++, column++]);
    else if (best === (table[(row + 1) * width + column] ?? 0)) row++;
    else column++;
  }
  return pairs;
}

/** Indexes of values that occur exactly once. */
function once(values: readonly string[], from: number, to: number): Map<string, number> {
  const seen = new Map<string, number>();
  for (let index = from; index < to; index++) {
    const value = values[index] ?? '';
    seen.set(value, seen.has(value) ? -1 : index);
  }
  return seen;
}

/** Longest run of increasing partners, so that anchors do not cross (patience sorting). */
function increasing(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const previous = new Int32Array(pairs.length).fill(-1);
  for (const [index, pair] of pairs.entries()) {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    previous[index] = tails[low - 1] ?? -1;
    tails[low] = index;
  }
  const run: [number, number][] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const pair = pairs[index];
    if (pair !== undefined) run.push(pair);
  }
  return run.reverse();
}

class Aligner {
  readonly matches: Alignment;
  private readonly left: readonly AnyBlock[];
  private readonly right: readonly AnyBlock[];
  private readonly leftDigests: string[];
  private readonly rightDigests: string[];

  constructor(left: readonly AnyBlock[], right: readonly AnyBlock[]) {
    this.left = left;
    this.right = right;
    this.leftDigests = left.map(digest);
    this.rightDigests = right.map(digest);
    this.matches = new Int32Array(left.length).fill(-1);
  }

  /** Matches equal blocks of a range, then changed ones in what is left between them. */
  range(fromLeft: number, toLeft: number, fromRight: number, toRight: number): void {
    let [startLeft, startRight, endLeft, endRight] = [fromLeft, fromRight, toLeft, toRight];
    const equal = (left: number, right: number): boolean => this.leftDigests[left] === this.rightDigests[right];
    while (startLeft < endLeft && startRight < endRight && equal(startLeft, startRight))
      this.matches[startLeft++] = startRight++;
    while (startLeft < endLeft && startRight < endRight && equal(endLeft - 1, endRight - 1))
      this.matches[--endLeft] = --endRight;
    const [rows, columns] = [endLeft - startLeft, endRight - startRight];
    if (rows === 0 || columns === 0) return;
    const large = rows * columns > fewCells;
    let anchors = large ? this.uniqueAnchors(startLeft, endLeft, startRight, endRight) : [];
    const exact = anchors.length === 0 && rows * columns <= maxCells;
    if (exact)
      anchors = bestMatching(rows, columns, (row, column) => (equal(startLeft + row, startRight + column) ? 1 : 0)).map(
        ([row, column]): [number, number] => [startLeft + row, startRight + column],
      );
    let [left, right] = [startLeft, startRight];
    for (const [anchorLeft, anchorRight] of [...anchors, [endLeft, endRight] as const]) {
      if (anchorLeft < endLeft) this.matches[anchorLeft] = anchorRight;
      if (exact || anchors.length === 0) this.changed(left, anchorLeft, right, anchorRight);
      else this.range(left, anchorLeft, right, anchorRight);
      left = anchorLeft + 1;
      right = anchorRight + 1;
    }
  }

  private uniqueAnchors(startLeft: number, endLeft: number, startRight: number, endRight: number): [number, number][] {
    const right = once(this.rightDigests, startRight, endRight);
    const pairs: [number, number][] = [];
    for (const [value, index] of once(this.leftDigests, startLeft, endLeft)) {
      const partner = right.get(value) ?? -1;
      if (index >= 0 && partner >= 0) pairs.push([index, partner]);
    }
    return increasing(pairs.sort((one, other) => one[0] - other[0]));
  }

  /** Matches blocks that differ: by key, else by likeness. */
  private changed(fromLeft: number, toLeft: number, fromRight: number, toRight: number): void {
    const [rows, columns] = [toLeft - fromLeft, toRight - fromRight];
    if (rows <= 0 || columns <= 0) return;
    const score = (row: number, column: number): number => {
      const [one, other] = [this.left[fromLeft + row], this.right[fromRight + column]];
      if (one === undefined || other === undefined) return 0;
      if (one.key !== undefined && one.key === other.key) return 2;
      const alike = similarity(one, other);
      return alike >= minSimilarity ? alike : 0;
    };
    if (rows * columns > maxSimilarCells) {
      const right = new Map(this.right.slice(fromRight, toRight).map((block, index) => [block.key, fromRight + index]));
      const pairs: [number, number][] = [];
      for (let left = fromLeft; left < toLeft; left++) {
        const key = this.left[left]?.key;
        const partner = key === undefined ? undefined : right.get(key);
        if (partner !== undefined) pairs.push([left, partner]);
      }
      for (const [left, partner] of increasing(pairs)) this.matches[left] = partner;
      return;
    }
    for (const [row, column] of bestMatching(rows, columns, score)) this.matches[fromLeft + row] = fromRight + column;
  }
}

/**
 * Matches the blocks of two versions: equal ones first (longest common subsequence), and between those the changed ones,
 * by key and otherwise by how many words they share. Blocks that moved count as removed and added.
 */
export function align(left: readonly AnyBlock[], right: readonly AnyBlock[]): Alignment {
  const aligner = new Aligner(left, right);
  aligner.range(0, left.length, 0, right.length);
  return aligner.matches;
}
