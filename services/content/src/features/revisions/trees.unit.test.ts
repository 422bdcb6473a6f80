import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diffTrees } from './diff-trees.ts';
import type { RevisionChange } from './model.ts';
import { brokenRules, choices, editAtRandom, inserted, pageNode, shown } from './testing.ts';
import { emptyTree, type RevisionTree } from './tree.ts';
import { applyChanges } from './tree-draft.ts';

const small = applyChanges(emptyTree, [
  inserted('guide', null, { type: 'group' }),
  inserted('start', 'guide'),
  inserted('more', 'guide'),
  inserted('deep', 'start'),
  inserted('web', null, { type: 'link', metadata: { title: 'Web', slug: '' }, target: { kind: 'url', url: 'x:y' } }),
]);

describe('a tree', () => {
  test('finds pages by path, and paths of pages', () => {
    expect(small.pathOf('deep')).toBe('guide/start/deep');
    expect(small.byPath('guide/start/deep')?.id).toBe('deep');
    expect(small.byPath('guide/deep')).toBeUndefined();
    expect(small.byPath('')).toBeUndefined();
    expect([...small.walk()].map((page) => page.id)).toEqual(['guide', 'start', 'deep', 'more', 'web']);
  });

  test('places a page in front of a sibling, and last without one', () => {
    const tree = applyChanges(small, [
      { kind: 'page_inserted', page: pageNode('first', { parent: 'guide' }), before: 'start' },
      { kind: 'page_moved', pageId: 'start', parent: 'guide', before: null },
    ]);
    expect(tree.children('guide')).toEqual(['first', 'more', 'start']);
  });

  test('moves and deletes whole branches, and follows renamed slugs', () => {
    const moved = applyChanges(small, [
      { kind: 'page_moved', pageId: 'start', parent: null, before: 'guide' },
      { kind: 'page_edited', pageId: 'start', metadata: { title: 'S', slug: 'begin' }, updatedAt: 'now' },
    ]);
    expect(moved.pathOf('deep')).toBe('begin/deep');
    expect(moved.byPath('begin/deep')?.id).toBe('deep');
    expect(moved.byPath('guide/start')).toBeUndefined();
    const gone = applyChanges(moved, [{ kind: 'page_deleted', pageId: 'start' }]);
    expect(gone.pageCount).toBe(3);
    expect(gone.page('deep')).toBeUndefined();
    expect(small.pageCount).toBe(5);
  });

  test('applies facts that do not fit without failing', () => {
    const facts: RevisionChange[] = [
      { kind: 'page_edited', pageId: 'nobody', updatedAt: 'now' },
      { kind: 'page_moved', pageId: 'nobody', parent: null, before: null },
      { kind: 'page_moved', pageId: 'guide', parent: 'deep', before: null },
      { kind: 'page_moved', pageId: 'guide', parent: 'guide', before: 'guide' },
      { kind: 'page_deleted', pageId: 'nobody' },
      { kind: 'file_deleted', fileId: 'nobody' },
      { kind: 'reusable_content_deleted', contentId: 'nobody' },
    ];
    expect(applyChanges(small, facts)).toBe(small);
    const twice = applyChanges(small, [inserted('orphan', 'nobody'), inserted('more', null)]);
    expect(twice.page('orphan')?.parent).toBeNull();
    expect(twice.page('more')?.parent).toBe('guide');
    expect(brokenRules(twice)).toEqual([]);
  });

  test('lets the next sibling answer when the one with the same slug goes', () => {
    const doubled = applyChanges(small, [inserted('other', 'guide', { metadata: { title: 'O', slug: 'start' } })]);
    expect(doubled.byPath('guide/start')?.id).toBe('start');
    const left = applyChanges(doubled, [{ kind: 'page_deleted', pageId: 'start' }]);
    expect(left.byPath('guide/start')?.id).toBe('other');
    expect(brokenRules(left)).toEqual([]);
  });

  test('keeps its rules under any facts at all', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const parent = fc.option(id, { nil: null });
    const slug = fc.constantFrom('x', 'y', '');
    const change = fc.oneof(
      fc.record({ id, parent, before: parent, slug }).map(
        (it): RevisionChange => ({
          kind: 'page_inserted',
          page: pageNode(it.id, { parent: it.parent, metadata: { title: it.id, slug: it.slug } }),
          before: it.before,
        }),
      ),
      fc
        .record({ id, parent, before: parent })
        .map((it): RevisionChange => ({ kind: 'page_moved', pageId: it.id, parent: it.parent, before: it.before })),
      id.map((pageId): RevisionChange => ({ kind: 'page_deleted', pageId })),
      fc.record({ id, slug }).map(
        (it): RevisionChange => ({
          kind: 'page_edited',
          pageId: it.id,
          metadata: { title: 't', slug: it.slug },
          updatedAt: 'now',
        }),
      ),
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), fc.nat(40), (changes, cut) => {
        const once = applyChanges(emptyTree, changes);
        const inTwo = applyChanges(applyChanges(emptyTree, changes.slice(0, cut)), changes.slice(cut));
        expect(brokenRules(once)).toEqual([]);
        expect(shown(inTwo)).toEqual(shown(once));
      }),
      { numRuns: 120 },
    );
  });
});

describe('the difference of two trees', () => {
  const pair = fc.record({ seed: fc.nat(), first: fc.nat(30), second: fc.nat(30), third: fc.nat(30) });
  const leadsOver = (from: RevisionTree, to: RevisionTree) =>
    expect(shown(applyChanges(from, diffTrees(from, to)))).toEqual(shown(to));

  test('leads from one to the other, near or far apart', () => {
    fc.assert(
      fc.property(pair, ({ seed, first, second, third }) => {
        const choose = choices(seed);
        const base = editAtRandom(small, first, choose, 'a');
        const one = editAtRandom(base, second, choose, 'b');
        const other = editAtRandom(base, third, choose, 'c');
        leadsOver(base, one);
        leadsOver(one, base);
        leadsOver(one, other);
      }),
      { numRuns: 120 },
    );
  });

  test('is empty between equal trees that share nothing', () => {
    const rebuilt = applyChanges(
      emptyTree,
      [...small.walk()].map((page) => inserted(page.id, page.parent, page)),
    );
    expect(diffTrees(small, rebuilt)).toEqual([]);
  });

  test('names the one page that moved among many', () => {
    const many = applyChanges(
      emptyTree,
      Array.from({ length: 1000 }, (_, index) => inserted(`p${index}`)),
    );
    const moved = applyChanges(many, [{ kind: 'page_moved', pageId: 'p900', parent: null, before: 'p10' }]);
    expect(diffTrees(many, moved)).toEqual([{ kind: 'page_moved', pageId: 'p900', parent: null, before: 'p10' }]);
  });
});
