import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseMarkdown } from '@bindery/documents';
import { markdownPage } from '@bindery/documents/testing';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diffTrees, TreeDraft } from '../revisions/index.ts';
import { createBareSpace, type Files } from './laws.testing.ts';

const asText = (files: Files): Record<string, string> =>
  Object.fromEntries(
    [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, bytes]) => [path, Buffer.from(bytes).toString('utf8')]),
  );

/** Titles, slugs and texts with everything that means something somewhere. */
const title = fc.oneof(
  fc.constantFrom(
    'Home',
    'README',
    'SUMMARY',
    'a  b ',
    '[x](y.md)',
    '# no',
    '*bold*',
    'c#',
    'Über uns',
    '日本',
    '100%',
    '<b>',
    '`code`',
    '',
    'x: y',
  ),
  fc.string({ maxLength: 12 }),
);
const slug = fc.constantFrom(
  'a',
  'A',
  'readme',
  'summary',
  'start',
  'über',
  'c#',
  'x.y',
  '100%',
  'a b',
  '-',
  '日本',
  '..',
);
const page = fc.record({
  title,
  slug,
  kind: fc.constantFrom('document', 'document', 'document', 'link', 'group'),
  under: fc.nat(20),
  markdown: markdownPage,
  description: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
  linkTitle: fc.option(fc.constantFrom('short', 'a "b"', ' x '), { nil: undefined }),
  hidden: fc.option(fc.boolean(), { nil: undefined }),
  url: fc.constantFrom('https://e.org/', 'https://e.org/a?b=c#d', 'nowhere.md', '/x', '#a', ''),
  toPage: fc.option(fc.nat(20), { nil: undefined }),
});

const spaceOf = (pages: readonly (typeof page extends fc.Arbitrary<infer T> ? T : never)[]) => {
  const space = createBareSpace('spaceOfTests00000001');
  const draft = new TreeDraft(space.tree);
  const documents: string[] = [];
  for (const [index, it] of pages.entries()) {
    const id = `page${String(index).padStart(16, '0')}`;
    const parent =
      it.kind === 'group' || documents.length === 0 ? null : (documents[it.under % (documents.length + 1)] ?? null);
    const metadata = {
      title: it.title,
      slug: `${it.slug}${index}`.slice(index % 3),
      ...(it.description === undefined ? {} : { description: it.description }),
      ...(it.linkTitle === undefined ? {} : { linkTitle: it.linkTitle }),
      ...(it.hidden === undefined || it.kind === 'link' ? {} : { hidden: it.hidden }),
    };
    if (it.kind === 'document') {
      const { document } = parseMarkdown(it.markdown);
      space.bodies.set(`d${id}`, document);
      draft.apply({
        kind: 'page_inserted',
        page: { id, type: 'document', parent, metadata, documentId: `d${id}` },
        before: null,
      });
    } else if (it.kind === 'group')
      draft.apply({ kind: 'page_inserted', page: { id, type: 'group', parent: null, metadata }, before: null });
    else {
      const known = it.toPage === undefined ? undefined : documents[it.toPage % (documents.length + 1)];
      const target =
        known === undefined ? ({ kind: 'url', url: it.url } as const) : ({ kind: 'page', page: known } as const);
      draft.apply({ kind: 'page_inserted', page: { id, type: 'link', parent, metadata, target }, before: null });
    }
    if (it.kind !== 'link') documents.push(id);
  }
  space.tree = draft.done();
  return space;
};

describe('laws of git sync', () => {
  test('export, import, export: the same files, and an import of them changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 8 }), async (pages) => {
        const first = await spaceOf(pages).export();
        const other = createBareSpace('otherSpace0000000001');
        const imported = await other.import(first);
        expect(asText(await other.export())).toEqual(asText(first));
        expect(diffTrees(imported, await other.import(first))).toEqual([]);
      }),
      { numRuns: process.env.LONG_TESTS ? 100 : 8, seed: 11 },
    );
  });
});

const folder = join(import.meta.dirname, '../../../../../../shared/data/elsa-docs');
const isThere = existsSync(folder);
const withData = isThere ? test : test.skip;

describe('a real documentation space', () => {
  withData(
    isThere ? 'comes back as it was, and settles' : 'SKIPPED: ../shared/data/elsa-docs is not beside the project',
    async () => {
      const files = new Map(
        readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((path) => statSync(join(folder, path)).isFile())
          .filter(
            (path, index) => index % 8 === 0 || !path.endsWith('.md') || path === 'README.md' || path === 'SUMMARY.md',
          )
          .map((path) => [path, readFileSync(join(folder, path))] as const),
      );
      const space = createBareSpace('elsa0000000000000001');
      const tree = await space.import(files);
      expect(tree.pageCount).toBeGreaterThan(20);
      // On top of what is there nothing of it changes: every file says the same already. (Pages that are left out here have
      // entries in the table of contents, which become pages of their own.)
      const onTop = await space.export(files);
      // The comparison of the test framework takes seconds for pictures.
      const changed = [...files].filter(([path, bytes]) => !bytes.equals(onTop.get(path) ?? Buffer.alloc(0)));
      expect(changed.map(([path]) => path).filter((path) => path !== 'SUMMARY.md')).toEqual([]);
      const first = await space.export();
      const other = createBareSpace('other000000000000001');
      await other.import(first);
      expect(asText(await other.export())).toEqual(asText(first));
    },
  );
});
