import type { JSONDocument } from '@bindery/contracts/document';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseMarkdown } from '../markdown/parse/index.ts';
import { serializeMarkdown } from '../markdown/write/index.ts';
import { plainText } from '../text/plain.ts';
import { carryKeys } from './carry-keys.ts';
import { mergeDocuments } from './merge.ts';
import { diffBlocks, revertBlocks } from './revert.ts';

const read = (markdown: string): JSONDocument => parseMarkdown(markdown, { title: false }).document;
const write = (document: JSONDocument): string => serializeMarkdown(document).trim();
const mergeText = (base: string, ours: string, theirs: string) => {
  const { document, conflicts } = mergeDocuments({ base: read(base), ours: read(ours), theirs: read(theirs) });
  return { text: write(document), conflicts };
};
const keysOf = (document: JSONDocument): string[] => JSON.stringify(document).match(/"key":"[^"]+"/g) ?? [];

const base = 'first paragraph of text\n\nsecond paragraph of text\n\nthird paragraph of text';

describe('merging two versions of a document', () => {
  test('changes of different blocks come together, neighbours included', () => {
    const { text, conflicts } = mergeText(base, base.replace('second', 'SECOND'), base.replace('third', 'THIRD'));
    expect(text).toBe(base.replace('second', 'SECOND').replace('third', 'THIRD'));
    expect(conflicts).toEqual([]);
  });

  test('an addition beside an edit', () => {
    const { text, conflicts } = mergeText(base, `new start\n\n${base}`, base.replace('first', 'FIRST'));
    expect(text).toBe(`new start\n\n${base.replace('first', 'FIRST')}`);
    expect(conflicts).toEqual([]);
  });

  test('the same change on both sides is taken once', () => {
    const changed = `${base.replace('second', 'SECOND')}\n\nand an end`;
    expect(mergeText(base, changed, changed)).toEqual({ text: changed, conflicts: [] });
  });

  test('both versions of a block that both sides changed stay, ours first', () => {
    const { text, conflicts } = mergeText(base, base.replace('second', 'our'), base.replace('second', 'their'));
    expect(text).toBe(base.replace('second paragraph of text', 'our paragraph of text\n\ntheir paragraph of text'));
    expect(conflicts).toMatchObject([{ kind: 'edited', key: read(base).nodes[1]?.key }]);
  });

  test.each([
    ['edited-deleted', base.replace('second', 'SECOND'), base.replace('second paragraph of text\n\n', '')],
    ['deleted-edited', base.replace('second paragraph of text\n\n', ''), base.replace('second', 'SECOND')],
  ])('%s: the edited block stays and is reported', (kind, ours, theirs) => {
    const { text, conflicts } = mergeText(base, ours, theirs);
    expect(text).toContain('SECOND');
    expect(conflicts).toMatchObject([{ kind }]);
  });

  test('different additions in the same place both stay and are reported', () => {
    const { text, conflicts } = mergeText(base, `${base}\n\nour end`, `${base}\n\ntheir end`);
    expect(text).toBe(`${base}\n\nour end\n\ntheir end`);
    expect(conflicts).toMatchObject([{ kind: 'inserted' }]);
  });

  test.each([
    [
      'tabs',
      '{% tabs %}\n{% tab title="A" %}\nalpha text here\n{% endtab %}\n\n{% tab title="B" %}\nbeta text here\n{% endtab %}\n{% endtabs %}',
    ],
    ['a list', '* alpha text here\n* beta text here'],
    ['a hint', '{% hint style="info" %}\nalpha text here\n\nbeta text here\n{% endhint %}'],
    ['an expandable', '<details>\n\n<summary>T</summary>\n\nalpha text here\n\nbeta text here\n\n</details>'],
  ])('inside %s only the changed parts are merged', (_, markdown) => {
    const { text, conflicts } = mergeText(
      markdown,
      markdown.replace('alpha', 'ALPHA'),
      markdown.replace('beta', 'BETA'),
    );
    expect(text).toBe(markdown.replace('alpha', 'ALPHA').replace('beta', 'BETA'));
    expect(conflicts).toEqual([]);
  });

  test('a 500-block document merges in little time', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `paragraph ${index} with some words`);
    const [one, other, third] = [lines, lines.with(3, 'changed three'), lines.with(400, 'changed four hundred')].map(
      (list) => read(list.join('\n\n')),
    );
    if (one === undefined || other === undefined || third === undefined) throw new Error('no documents');
    const start = performance.now();
    const { conflicts, document } = mergeDocuments({ base: one, ours: other, theirs: third });
    expect(performance.now() - start).toBeLessThan(500);
    expect([conflicts.length, document.nodes.length]).toEqual([0, 500]);
  });
});

const word = fc.constantFrom('red', 'green', 'blue', 'grey', 'pink');
const sentence = fc.array(word, { minLength: 2, maxLength: 4 }).map((words) => words.join(' '));
const block = fc.oneof(
  sentence,
  sentence.map((text) => `## ${text}`),
  fc.array(sentence, { minLength: 1, maxLength: 3 }).map((items) => items.map((item) => `* ${item}`).join('\n')),
  sentence.map((text) => `{% hint style="info" %}\n${text}\n{% endhint %}`),
);
const page = fc.array(block, { maxLength: 8 }).map((blocks) => blocks.join('\n\n'));

describe('laws of merging', () => {
  const runs = { numRuns: 200, seed: 11 };

  test('a side that changed nothing gives way to the other', () => {
    fc.assert(
      fc.property(page, page, (one, other) => {
        const [before, after] = [read(one), read(other)];
        expect(mergeDocuments({ base: before, ours: before, theirs: after })).toEqual({
          document: after,
          conflicts: [],
        });
        expect(mergeDocuments({ base: before, ours: after, theirs: before })).toEqual({
          document: after,
          conflicts: [],
        });
        expect(mergeDocuments({ base: before, ours: after, theirs: after })).toEqual({
          document: after,
          conflicts: [],
        });
      }),
      runs,
    );
  });

  test('nothing that a side added or changed disappears, and keys stay unique', () => {
    fc.assert(
      fc.property(page, page, page, (before, left, right) => {
        const [ours, theirs] = [read(left), read(right)];
        const { document } = mergeDocuments({ base: read(before), ours, theirs });
        const merged = new Set(plainText(document).split('\n'));
        const known = new Set(plainText(read(before)).split('\n'));
        const written = [...plainText(ours).split('\n'), ...plainText(theirs).split('\n')];
        expect(written.filter((line) => line !== '' && !known.has(line) && !merged.has(line))).toEqual([]);
        const keys = keysOf(document);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      runs,
    );
  });

  test('changes of disjoint blocks commute', () => {
    const lines = fc
      .uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 2, maxLength: 9 })
      .map((ids) => ids.map((id) => `block ${id} says something`));
    fc.assert(
      fc.property(lines, fc.nat(), fc.nat(), (list, one, other) => {
        const [left, right] = [one % list.length, other % list.length];
        if (left === right) return;
        const input = {
          base: read(list.join('\n\n')),
          ours: read(list.with(left, `${list[left]} ours`).join('\n\n')),
          theirs: read(list.with(right, `${list[right]} theirs`).join('\n\n')),
        };
        const merged = mergeDocuments(input);
        const swapped = mergeDocuments({ base: input.base, ours: input.theirs, theirs: input.ours });
        expect(merged.conflicts).toEqual([]);
        expect(write(merged.document)).toBe(write(swapped.document));
        expect(write(merged.document)).toContain('ours');
        expect(write(merged.document)).toContain('theirs');
      }),
      runs,
    );
  });
});

describe('keys and single blocks', () => {
  test('edited blocks keep the key they had', () => {
    const previous = read(`${base}\n\n* one item\n* two items`);
    const next = carryKeys(
      previous,
      read(`a new beginning\n\n${base.replace('second', 'SECOND')}\n\n* one item\n* two changed items`),
    );
    expect(next.nodes.slice(1).map((node) => node.key)).toEqual(previous.nodes.map((node) => node.key));
    const keys = keysOf(next);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('carrying keys changes nothing else, whatever the versions', () => {
    fc.assert(
      fc.property(page, page, (one, other) => {
        const [previous, next] = [read(one), read(other)];
        const carried = carryKeys(previous, next);
        expect(write(carried)).toBe(write(next));
        expect(carryKeys(previous, previous)).toEqual(previous);
        const keys = keysOf(carried);
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 100, seed: 12 },
    );
  });

  test('reverting takes back edits, additions and removals of the named blocks only', () => {
    const before = read(base);
    const after = carryKeys(
      before,
      read('first paragraph of OTHER text\n\nan addition of mine\n\nthird paragraph of CHANGED text'),
    );
    const changes = diffBlocks(before, after);
    expect(changes.map((change) => change.kind)).toEqual(['edited', 'removed', 'added', 'edited']);
    const keys = changes.slice(0, -1).flatMap((change) => change.key ?? []);
    expect(write(revertBlocks(after, before, keys))).toBe(
      base.replace('third paragraph of', 'third paragraph of CHANGED'),
    );
    expect(revertBlocks(after, before, ['nothing'])).toEqual(after);
  });
});
