import type { JSONDocument } from '@bindery/contracts/document';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseMarkdown } from '../markdown/parse/index.ts';
import { serializeMarkdown } from '../markdown/write/index.ts';
import { markdownPage } from '../testing/arbitraries.ts';
import { plainText } from '../text/plain.ts';
import { carryKeys } from './carry-keys.ts';
import { mergeDocuments } from './merge.ts';

const runs = { numRuns: Number(process.env.MERGE_RUNS ?? (process.env.LONG_TESTS ? 1000 : 60)), seed: 21 };
const read = (markdown: string): JSONDocument => parseMarkdown(markdown, { title: false, frontMatter: false }).document;
const write = (document: JSONDocument): string => serializeMarkdown(document).trim();

/** Marks that occur nowhere else, one for each thing that a side writes, so that each can be looked for. */
const marks = (text: string): readonly string[] => text.match(/Q[ab]\d+Q/g) ?? [];
const count = (text: string, mark: string): number => text.split(mark).length - 1;

type Step = { readonly kind: 'edit' | 'delete' | 'insert' | 'move' | 'copy'; readonly at: number; readonly to: number };
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('edit', 'edit', 'insert', 'delete', 'move', 'copy'),
  at: fc.nat(99),
  to: fc.nat(99),
});
const steps = fc.array(step, { maxLength: 6 });

const kinds: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `## ${text}`,
  (text) => `* ${text}\n* second point\n* third point`,
  (text) => `{% hint style="info" %}\n${text}\n\nmore of the hint\n{% endhint %}`,
  (text) => `| Head | Other |\n| --- | --- |\n| ${text} | cell |`,
  (text) => `\`\`\`\n${text}\n\`\`\``,
  (text) =>
    `{% tabs %}\n{% tab title="One" %}\n${text}\n{% endtab %}\n\n{% tab title="Two" %}\nother tab\n{% endtab %}\n{% endtabs %}`,
  (text) => `> ${text}`,
];
const start = fc
  .array(fc.nat(kinds.length - 1), { minLength: 1, maxLength: 7 })
  .map((list) => list.map((kind, index) => (kinds[kind] ?? String)(`words of block number ${index} here`)));

/** What somebody makes of a document; every edit and insertion carries a mark. */
const change = (blocks: readonly string[], by: 'a' | 'b', list: readonly Step[]): readonly string[] => {
  const result = [...blocks];
  for (const [index, { kind, at, to }] of list.entries()) {
    const place = at % Math.max(1, result.length);
    const mark = `Q${by}${index}Q`;
    if (kind === 'insert' || result.length === 0)
      result.splice(place, 0, (kinds[to % kinds.length] ?? String)(`added ${mark}`));
    else if (kind === 'edit') result[place] = (result[place] ?? '').replace(/words|added/, `$& ${mark}`);
    else if (kind === 'delete') result.splice(place, 1);
    else if (kind === 'move') result.splice(to % result.length, 0, ...result.splice(place, 1));
    else result.splice(to % result.length, 0, result[place] ?? '');
  }
  return result;
};
const three = fc.record({ start, one: steps, other: steps }).map(({ start: blocks, one, other }) => ({
  base: read(blocks.join('\n\n')),
  ours: read(change(blocks, 'a', one).join('\n\n')),
  theirs: read(change(blocks, 'b', other).join('\n\n')),
}));

describe('laws of merging documents of all kinds of blocks', () => {
  test('what a side wrote is in the result', () => {
    fc.assert(
      fc.property(three, (it) => {
        const { document } = mergeDocuments(it);
        const merged = write(document);
        for (const side of [it.ours, it.theirs])
          for (const mark of new Set(marks(write(side)))) expect(merged).toContain(mark);
      }),
      runs,
    );
  });

  test('a text that nobody deleted stays, and one that a side deleted goes unless it is reported', () => {
    fc.assert(
      fc.property(three, (it) => {
        const { document, conflicts } = mergeDocuments(it);
        const merged = write(document);
        const [ours, theirs] = [write(it.ours), write(it.theirs)];
        for (const [name] of write(it.base).matchAll(/block number \d+/g)) {
          if (ours.includes(name) && theirs.includes(name)) expect(merged).toContain(name);
          if (!ours.includes(name) && !theirs.includes(name)) expect(merged).not.toContain(name);
          if (ours.includes(name) !== theirs.includes(name) && merged.includes(name) && conflicts.length === 0) {
            // Moved and copied blocks are additions: only then may it be there without a word.
            const side = ours.includes(name) ? ours : theirs;
            expect(side).toContain(name);
          }
        }
      }),
      runs,
    );
  });

  test('both ways around the same comes out, but for the order of what conflicts', () => {
    fc.assert(
      fc.property(three, (it) => {
        const forth = mergeDocuments(it);
        const back = mergeDocuments({ base: it.base, ours: it.theirs, theirs: it.ours });
        expect(back.conflicts.length).toBe(forth.conflicts.length);
        if (forth.conflicts.length === 0) expect(write(back.document)).toBe(write(forth.document));
        const lines = (document: JSONDocument) => plainText(document).split('\n').sort();
        expect(lines(back.document)).toEqual(lines(forth.document));
      }),
      runs,
    );
  });

  test('updating a branch and merging it then gives what merging gives', () => {
    fc.assert(
      fc.property(three, (it) => {
        const merged = mergeDocuments(it).document;
        const later = mergeDocuments({ base: it.ours, ours: it.ours, theirs: merged });
        expect(later.conflicts).toEqual([]);
        expect(write(later.document)).toBe(write(merged));
      }),
      runs,
    );
  });

  test('edits of different blocks come together without a conflict, whatever the blocks', () => {
    fc.assert(
      fc.property(start, fc.nat(), fc.nat(), (blocks, one, other) => {
        const [left, right] = [one % blocks.length, other % blocks.length];
        if (left === right) return;
        const edit = (list: readonly string[], at: number, mark: string) =>
          list.with(at, (list[at] ?? '').replace('words', `words ${mark}`));
        const { document, conflicts } = mergeDocuments({
          base: read(blocks.join('\n\n')),
          ours: read(edit(blocks, left, 'Qa0Q').join('\n\n')),
          theirs: read(edit(blocks, right, 'Qb0Q').join('\n\n')),
        });
        expect(conflicts).toEqual([]);
        expect(write(document)).toBe(write(read(edit(edit(blocks, left, 'Qa0Q'), right, 'Qb0Q').join('\n\n'))));
      }),
      runs,
    );
  });

  test('keys carried from version to version change nothing of it', () => {
    fc.assert(
      fc.property(three, ({ base, ours, theirs }) => {
        const keyed = { base, ours: carryKeys(base, ours), theirs: carryKeys(base, theirs) };
        const merged = write(mergeDocuments(keyed).document);
        for (const side of [ours, theirs]) for (const mark of marks(write(side))) expect(merged).toContain(mark);
      }),
      runs,
    );
  });

  test('any documentation merges, and no text of one side alone is lost', () => {
    fc.assert(
      fc.property(markdownPage, markdownPage, markdownPage, (one, two, other) => {
        const [base, ours, theirs] = [read(one), read(two), read(other)];
        const { document } = mergeDocuments({ base, ours, theirs });
        const [before, merged] = [plainText(base).split('\n'), plainText(document)];
        for (const side of [ours, theirs])
          for (const line of plainText(side).split('\n'))
            if (!before.includes(line)) expect(count(merged, line)).toBeGreaterThan(0);
      }),
      { ...runs, numRuns: Math.ceil(runs.numRuns / 4) },
    );
  });
});
