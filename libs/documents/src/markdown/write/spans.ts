import type { Inline, Leaf, Mark, Phrasing } from '@bindery/contracts/document';

/** Inline content as a tree of marks. */
export type Span =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'wrap' }
  | { kind: 'break' }
  | { kind: 'node'; node: Inline; base: Mark[] }
  | { kind: 'mark'; mark: Mark; children: Span[] };

const sameMark = (one: Mark, other: Mark): boolean =>
  one.type === other.type &&
  (one.type !== 'color' ||
    (other.type === 'color' && one.data.text === other.data.text && one.data.background === other.data.background));

export const sameMarks = (one: readonly Mark[], other: readonly Mark[]): boolean =>
  one.length === other.length && one.every((mark, index) => sameMark(mark, other[index] ?? mark));

const commonStart = (one: readonly Mark[], other: readonly Mark[]): Mark[] => {
  let length = 0;
  for (; length < one.length; length++) {
    const [left, right] = [one[length], other[length]];
    if (left === undefined || right === undefined || !sameMark(left, right)) break;
  }
  return one.slice(0, length);
};

interface Item {
  span: Span;
  /** Undefined: whatever the neighbours have. */
  marks: Mark[] | undefined;
}

/** The marks that all text below a link has in common; undefined when it has no text. */
function marksOf(node: Inline): Mark[] | undefined {
  if (node.type !== 'link' && node.type !== 'annotation') return undefined;
  let common: Mark[] | undefined;
  for (const child of node.nodes) {
    const sets =
      child.object === 'text'
        ? child.leaves.filter((leaf) => leaf.text !== '').map((leaf) => leaf.marks)
        : [marksOf(child)];
    for (const marks of sets)
      if (marks !== undefined) common = common === undefined ? marks : commonStart(common, marks);
  }
  return common?.filter((mark) => mark.type !== 'code');
}

/** Whether a leaf is the space of a wrapped line (see the builder of phrasing). */
export function isWrap(leaf: Leaf, index: number, leaves: readonly Leaf[]): boolean {
  if (leaf.text !== ' ') return false;
  const [before, after] = [leaves[index - 1], leaves[index + 1]];
  return (
    (before !== undefined && before.text !== ' ' && sameMarks(before.marks, leaf.marks)) ||
    (after !== undefined && after.text !== ' ' && sameMarks(after.marks, leaf.marks))
  );
}

function itemsOf(nodes: readonly Phrasing[], base: number): Item[] {
  const items: Item[] = [];
  for (const node of nodes) {
    if (node.object === 'inline') {
      const marks = marksOf(node);
      items.push({ span: { kind: 'node', node, base: marks ?? [] }, marks: marks?.slice(base) });
      continue;
    }
    for (const [index, leaf] of node.leaves.entries()) {
      if (leaf.text === '') continue;
      const outer = leaf.marks.filter((mark) => mark.type !== 'code');
      const marks = outer.slice(base);
      if (outer.length < leaf.marks.length) {
        items.push({ span: { kind: 'code', text: leaf.text }, marks });
        continue;
      }
      if (isWrap(leaf, index, node.leaves)) {
        items.push({ span: { kind: 'wrap' }, marks });
        continue;
      }
      for (const [line, text] of leaf.text.split('\n').entries()) {
        if (line > 0) items.push({ span: { kind: 'break' }, marks });
        if (text !== '') items.push({ span: { kind: 'text', text }, marks });
      }
    }
  }
  return items;
}

/**
 * Arranges inline content as a tree in which neighbours with the same mark share it.
 * @param base how many marks, counted from the outermost, are written further out already
 */
export function spansOf(nodes: readonly Phrasing[], base = 0): Span[] {
  const items = itemsOf(nodes, base);
  const root: Span[] = [];
  const open: { mark: Mark; children: Span[] }[] = [];
  for (const [index, item] of items.entries()) {
    const marks = item.marks ?? inherited(items, index);
    const keep = commonStart(
      open.map((one) => one.mark),
      marks,
    ).length;
    open.length = keep;
    for (const mark of marks.slice(keep)) {
      const children: Span[] = [];
      (open.at(-1)?.children ?? root).push({ kind: 'mark', mark, children });
      open.push({ mark, children });
    }
    const target = open.at(-1)?.children ?? root;
    const last = target.at(-1);
    if (item.span.kind === 'text' && last?.kind === 'text') last.text += item.span.text;
    else if (item.span.kind === 'code' && last?.kind === 'code') last.text += item.span.text;
    else target.push(item.span);
  }
  return root;
}

function inherited(items: readonly Item[], index: number): Mark[] {
  let before = index - 1;
  while (before >= 0 && items[before]?.marks === undefined) before--;
  let after = index + 1;
  while (after < items.length && items[after]?.marks === undefined) after++;
  return commonStart(items[before]?.marks ?? [], items[after]?.marks ?? []);
}
