import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diffTrees } from './diff-trees.ts';
import { documentsToMerge, mergeTrees } from './merge-trees.ts';
import type { MergeResult } from './merge-types.ts';
import type { PageMetadata, RevisionChange } from './model.ts';
import { brokenRules, choices, editAtRandom, inserted, shown } from './testing.ts';
import { emptyTree, type RevisionTree } from './tree.ts';
import { applyChanges } from './tree-draft.ts';

const base = applyChanges(emptyTree, [
  inserted('a'),
  inserted('a1', 'a'),
  inserted('a2', 'a'),
  inserted('b'),
  inserted('b1', 'b'),
  inserted('c'),
]);
const edited = (
  pageId: string,
  metadata: Partial<PageMetadata>,
  more: { documentId?: string } = {},
): RevisionChange => ({
  kind: 'page_edited',
  pageId,
  metadata: { title: pageId, slug: pageId, ...metadata },
  updatedAt: '2026-01-02T00:00:00.000Z',
  ...more,
});
const moved = (pageId: string, parent: string | null, before: string | null = null): RevisionChange => ({
  kind: 'page_moved',
  pageId,
  parent,
  before,
});
const deleted = (pageId: string): RevisionChange => ({ kind: 'page_deleted', pageId });
const merge = (ours: readonly RevisionChange[], theirs: readonly RevisionChange[]) =>
  mergeTrees({ base, ours: applyChanges(base, ours), theirs: applyChanges(base, theirs) });

describe('merging two sides by rule', () => {
  test('takes both sides of different fields and different pages', () => {
    const { tree, conflicts } = merge(
      [edited('a', { title: 'Ours' }), inserted('n1', 'b')],
      [edited('a', { description: 'Theirs' }), edited('b', { emoji: 'x' }), inserted('n2', 'b'), deleted('c')],
    );
    expect(conflicts).toEqual([]);
    expect(tree.page('a')?.metadata).toEqual({ title: 'Ours', slug: 'a', description: 'Theirs' });
    expect(tree.children('b')).toEqual(['b1', 'n1', 'n2']);
    expect(tree.page('c')).toBeUndefined();
  });

  test('reports a field that both changed, and the branch wins', () => {
    const { tree, conflicts } = merge(
      [edited('a', { title: 'Ours', icon: 'i' })],
      [edited('a', { title: 'Theirs', icon: 'j' })],
    );
    expect(tree.page('a')?.metadata).toMatchObject({ title: 'Theirs', icon: 'j' });
    expect(conflicts).toEqual([
      { pageId: 'a', field: 'title' },
      { pageId: 'a', field: 'metadata' },
    ]);
  });

  test('the same change on both sides is no conflict', () => {
    const { tree, conflicts, changes } = merge([edited('a', { title: 'Same' })], [edited('a', { title: 'Same' })]);
    expect(conflicts).toEqual([]);
    expect(changes).toEqual([]);
    expect(tree.page('a')?.metadata.title).toBe('Same');
  });

  test('keeps an edited page that the other side deleted, whichever side that is', () => {
    const theyDelete = merge([edited('a1', { title: 'Kept' })], [deleted('a')]);
    expect(theyDelete.conflicts).toEqual([{ pageId: 'a1', field: 'deleted' }]);
    expect(theyDelete.tree.page('a1')).toMatchObject({ parent: null, metadata: { title: 'Kept' } });
    expect(theyDelete.tree.children(null)).toEqual(['a1', 'b', 'c']);
    const weDelete = merge([deleted('a')], [edited('a1', { title: 'Kept' })]);
    expect(weDelete.conflicts).toEqual([{ pageId: 'a1', field: 'deleted' }]);
    expect(weDelete.tree.page('a1')).toMatchObject({ parent: null, metadata: { title: 'Kept' } });
  });

  test('a deletion wins over a mere move', () => {
    const { tree, conflicts } = merge([deleted('a1')], [moved('a1', 'b')]);
    expect(conflicts).toEqual([]);
    expect(tree.page('a1')).toBeUndefined();
  });

  test('keeps a page put under a parent that the other side deleted', () => {
    for (const [ours, theirs] of [
      [[deleted('a')], [inserted('n', 'a1')]],
      [[inserted('n', 'a1')], [deleted('a')]],
    ] as const) {
      const { tree, conflicts } = merge(ours, theirs);
      expect(tree.page('n')?.parent).toBeNull();
      expect(tree.page('a1')).toBeUndefined();
      expect(conflicts).toEqual([{ pageId: 'n', field: 'deleted' }]);
    }
  });

  test('puts a new page under the parent that comes back', () => {
    const { tree } = merge([deleted('a')], [edited('a', { title: 'Back' }), inserted('n', 'a')]);
    expect(tree.page('n')?.parent).toBe('a');
    expect(tree.page('a1')).toBeUndefined();
  });

  test('moves out what we moved into a page that they deleted', () => {
    const { tree, conflicts } = merge([moved('c', 'a1')], [deleted('a')]);
    expect(tree.page('c')?.parent).toBeNull();
    expect(conflicts).toEqual([{ pageId: 'c', field: 'position' }]);
  });

  test('reports two moves to different parents', () => {
    const { tree, conflicts } = merge([moved('c', 'a')], [moved('c', 'b')]);
    expect(tree.page('c')?.parent).toBe('b');
    expect(conflicts).toEqual([{ pageId: 'c', field: 'position' }]);
  });

  test('never closes a circle', () => {
    const { tree, conflicts } = merge([moved('a', 'b')], [moved('b', 'a')]);
    expect(brokenRules(tree)).toEqual([]);
    expect(tree.pageCount).toBe(base.pageCount);
    expect(conflicts).toContainEqual({ pageId: 'b', field: 'position' });
  });

  test('a move of ours to another parent stands against their reordering', () => {
    const { tree, conflicts } = merge([moved('a2', 'b')], [moved('a2', 'a', 'a1')]);
    expect(tree.page('a2')?.parent).toBe('b');
    expect(conflicts).toEqual([]);
  });

  test('gives the second of two siblings with one slug another', () => {
    const { tree, conflicts } = merge(
      [inserted('n1', 'b', { metadata: { title: 'N', slug: 'news' } })],
      [inserted('n2', 'b', { metadata: { title: 'N', slug: 'news' } })],
    );
    expect(tree.page('n1')?.metadata.slug).toBe('news');
    expect(tree.page('n2')?.metadata.slug).toBe('news-1');
    expect(conflicts).toEqual([{ pageId: 'n2', field: 'slug' }]);
  });

  test('a slug that the same side sets free can be taken', () => {
    const { tree, conflicts } = merge(
      [edited('c', { title: 'C' })],
      [edited('a', { slug: 'old' }), inserted('n', null, { metadata: { title: 'A', slug: 'a' } })],
    );
    expect(conflicts).toEqual([]);
    expect(tree.byPath('a')?.id).toBe('n');
  });

  test('asks for the bodies that both sides changed and uses what it is given', () => {
    const ours = applyChanges(base, [edited('a', {}, { documentId: 'ours' }), edited('b', {}, { documentId: 'x' })]);
    const theirs = applyChanges(base, [edited('a', {}, { documentId: 'theirs' })]);
    expect(documentsToMerge({ base, ours, theirs })).toEqual([
      { kind: 'page', id: 'a', base: 'doc-a', ours: 'ours', theirs: 'theirs' },
    ]);
    const documents = new Map([['a', { documentId: 'both', conflicts: ['k1'] }]]);
    const { tree, conflicts } = mergeTrees({ base, ours, theirs, documents });
    expect(tree.page('a')?.documentId).toBe('both');
    expect(tree.page('b')?.documentId).toBe('x');
    expect(conflicts).toEqual([{ pageId: 'a', field: 'document', blocks: ['k1'] }]);
  });

  test('merges variables by name, files and reusable contents by id', () => {
    const file = (name: string): RevisionChange => ({
      kind: 'file_put',
      file: { id: 'f', name, contentType: 'image/png', size: 1, sha256: 's' },
    });
    const content = (title: string): RevisionChange => ({ kind: 'reusable_content_put', content: { id: 'r', title } });
    const { tree, conflicts } = merge(
      [{ kind: 'variables_set', variables: { a: 1, b: 1 } }, file('ours'), content('Ours')],
      [{ kind: 'variables_set', variables: { b: 2, c: 3 } }, file('theirs'), content('Theirs')],
    );
    expect(tree.variables).toEqual({ a: 1, b: 2, c: 3 });
    expect(conflicts).toEqual([
      { kind: 'file', pageId: 'f', field: 'metadata' },
      { kind: 'reusable-content', pageId: 'r', field: 'title' },
      { kind: 'variable', pageId: 'b', field: 'metadata' },
    ]);
  });
});

/** More with `MERGE_RUNS`. */
const runs = { numRuns: Number(process.env.MERGE_RUNS ?? 120), seed: 3 };

describe('merging any two sides', () => {
  const sides = fc.record({ seed: fc.nat(), before: fc.nat(25), ours: fc.nat(25), theirs: fc.nat(25) });
  const make = (it: { seed: number; before: number; ours: number; theirs: number }) => {
    const choose = choices(it.seed);
    const start = editAtRandom(base, it.before, choose, 'x');
    return {
      base: start,
      ours: editAtRandom(start, it.ours, choose, 'o'),
      theirs: editAtRandom(start, it.theirs, choose, 't'),
    };
  };
  const contentOf = (tree: RevisionTree, id: string) => {
    const page = tree.page(id);
    return page && JSON.stringify([page.metadata.title, page.metadata.description, page.documentId]);
  };

  test('a side that did nothing changes nothing', () => {
    fc.assert(
      fc.property(sides, (it) => {
        const three = make(it);
        expect(shown(mergeTrees({ ...three, theirs: three.base }).tree)).toEqual(shown(three.ours));
        expect(shown(mergeTrees({ ...three, ours: three.base }).tree)).toEqual(shown(three.theirs));
      }),
    );
  });

  test('the changes lead from ours to a sound tree', () => {
    fc.assert(
      fc.property(sides, (it) => {
        const three = make(it);
        const { tree, changes } = mergeTrees(three);
        expect(brokenRules(tree)).toEqual([]);
        expect(shown(applyChanges(three.ours, changes))).toEqual(shown(tree));
        const paths = [...tree.walk()].map((page) => tree.pathOf(page.id));
        expect(new Set(paths).size).toBe(paths.length);
      }),
      runs,
    );
  });

  test('updating the branch and then merging gives what merging gives, without further conflicts', () => {
    fc.assert(
      fc.property(sides, (it) => {
        const three = make(it);
        const merged = mergeTrees(three).tree;
        const updated = applyChanges(three.theirs, diffTrees(three.theirs, merged));
        const later = mergeTrees({ base: three.ours, ours: three.ours, theirs: updated });
        expect(shown(later.tree)).toEqual(shown(merged));
        expect(later.conflicts).toEqual([]);
      }),
      runs,
    );
  });

  test('no text of either side is lost: what was written is there, or its page is named', () => {
    fc.assert(
      fc.property(sides, (it) => {
        const three = make(it);
        const { tree, conflicts } = mergeTrees(three);
        const named = new Set(conflicts.map((conflict) => conflict.pageId));
        for (const side of [three.ours, three.theirs]) {
          for (const page of side.walk()) {
            const before = contentOf(three.base, page.id);
            if (contentOf(side, page.id) === before) continue;
            expect(tree.page(page.id)).toBeDefined();
            const other = side === three.ours ? three.theirs : three.ours;
            const alone = contentOf(other, page.id) === before || contentOf(other, page.id) === undefined;
            if (alone && !named.has(page.id)) expect(contentOf(tree, page.id)).toBe(contentOf(side, page.id));
          }
        }
      }),
      runs,
    );
  });

  test('edits of different pages commute', () => {
    const titles = fc.dictionary(fc.constantFrom('a', 'a1', 'a2'), fc.string());
    const others = fc.dictionary(fc.constantFrom('b', 'b1', 'c'), fc.string());
    const apply = (changes: Record<string, string>) =>
      applyChanges(
        base,
        Object.entries(changes).map(([id, title]) => edited(id, { title })),
      );
    fc.assert(
      fc.property(titles, others, (one, two) => {
        const [first, second] = [apply(one), apply(two)];
        const forth = mergeTrees({ base, ours: first, theirs: second });
        const back = mergeTrees({ base, ours: second, theirs: first });
        expect([...forth.conflicts, ...back.conflicts]).toEqual([]);
        expect(shown(forth.tree)).toEqual(shown(back.tree));
      }),
    );
  });

  test('conflicts do not depend on which side is which, but for who was first with an address', () => {
    fc.assert(
      fc.property(sides, (it) => {
        const three = make(it);
        const named = (merged: MergeResult) =>
          new Set(merged.conflicts.flatMap(({ field, pageId }) => (field === 'document' ? [pageId] : [])));
        const forth = mergeTrees(three);
        const back = mergeTrees({ base: three.base, ours: three.theirs, theirs: three.ours });
        expect(named(back)).toEqual(named(forth));
        expect([...back.tree.walk()].map(({ id }) => id).sort()).toEqual(
          [...forth.tree.walk()].map(({ id }) => id).sort(),
        );
        const ids = (list: Iterable<{ readonly id: string }>) => [...list].map(({ id }) => id).sort();
        expect(ids(back.tree.files())).toEqual(ids(forth.tree.files()));
        expect(ids(back.tree.reusableContents())).toEqual(ids(forth.tree.reusableContents()));
      }),
      runs,
    );
  });

  test('what both sides changed is named, unless they changed it to the same', () => {
    fc.assert(
      fc.property(sides, (it) => {
        const { base: before, ours, theirs } = make(it);
        const named = new Set(mergeTrees({ base: before, ours, theirs }).conflicts.map(({ pageId }) => pageId));
        for (const page of ours.walk()) {
          const [old, other] = [before.page(page.id), theirs.page(page.id)];
          if (old === undefined || other === undefined) continue;
          const values = [old.documentId, page.documentId, other.documentId];
          const titles = [old.metadata.title, page.metadata.title, other.metadata.title];
          for (const three of [values, titles]) if (new Set(three).size === 3) expect(named).toContain(page.id);
        }
        for (const content of ours.reusableContents()) {
          const three = [before, ours, theirs].map((tree) => tree.reusableContent(content.id)?.documentId);
          if (new Set(three).size === 3) expect(named).toContain(content.id);
        }
        for (const file of ours.files()) {
          const three = [before, ours, theirs].map((tree) => tree.file(file.id)?.name);
          if (new Set(three).size === 3) expect(named).toContain(file.id);
        }
      }),
      runs,
    );
  });
});
