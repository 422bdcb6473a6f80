import { describe, expect, test } from '@jest/globals';
import { readPageFields, writePageFields } from '../markdown/page-fields.ts';
import { parseMarkdown } from '../markdown/parse/index.ts';
import { parseSummary, serializeSummary } from '../markdown/summary.ts';
import { parsePage } from '../testing/page.ts';
import { relativePath, resolveRelativePath } from './paths.ts';
import { plainText } from './plain.ts';
import { extractReferences, mapReferences } from './references.ts';
import { sections } from './sections.ts';
import { slugify } from './slug.ts';

describe('slugs', () => {
  test.each([
    ['Getting Started', 'getting-started'],
    ["What's new?", 'whats-new'],
    ['Crème brûlée', 'creme-brulee'],
    ['日本語 の ページ', '日本語-の-ページ'],
    ['हिन्दी', 'हिन्दी'],
    ['C#', 'c'],
    ['***', 'page'],
    ['', 'page'],
    ['a'.repeat(300), 'a'.repeat(100)],
  ])('%j is %j', (title, slug) => {
    expect(slugify(title)).toBe(slug);
  });
});

describe('text of a page', () => {
  const markdown =
    'Intro **bold**<!-- hidden -->\n\n## One\n\n* item\n* [link](a.md)\n\n## One\n\n{% tabs %}\n{% tab title="Tab" %}\n### Deep <a href="#mine" id="mine"></a>\n\n| A | B |\n| --- | --- |\n| c | d |\n{% endtab %}\n{% endtabs %}';

  test('plain text has every word once and no markup', () => {
    expect(plainText(parsePage(markdown))).toBe('Intro bold\nOne\nitem\nlink\nOne\nTab\nDeep\nA\nB\nc\nd');
  });

  test('sections begin at headings and have unique anchors', () => {
    expect(sections(parsePage(markdown), 'Page')).toEqual([
      { id: '', title: 'Page', level: 0, text: 'Intro bold' },
      { id: 'one', title: 'One', level: 1, text: 'item\nlink' },
      { id: 'one-1', title: 'One', level: 1, text: 'Tab' },
      { id: 'mine', title: 'Deep', level: 2, text: 'A\nB\nc\nd' },
    ]);
  });
});

describe('references', () => {
  const markdown =
    '[a](a.md) ![i](i.png) [m.md](m.md "mention")\n\n{% file src="f.pdf" %}\n\n{% content-ref url="c.md" %}\n[c.md](c.md)\n{% endcontent-ref %}\n\n* [b](b.md)\n\nx[^1]\n\n[^1]: [n](n.md)';

  test('all are found with their block and purpose', () => {
    const document = parsePage(markdown);
    const found = extractReferences(document).map(
      ({ ref, context }) => `${context} ${ref.kind === 'url' ? ref.url : ''}`,
    );
    expect(found).toEqual([
      'link a.md',
      'image i.png',
      'page m.md',
      'file f.pdf',
      'page c.md',
      'link b.md',
      'link n.md',
    ]);
    expect(extractReferences(document)[0]?.blockKey).toBe(document.nodes[0]?.key);
  });

  test('mapping changes references and nothing else', () => {
    const document = parsePage(markdown);
    expect(mapReferences(document, (ref) => ref)).toEqual(document);
    const pages = mapReferences(document, (ref) => (ref.kind === 'url' ? { kind: 'page', page: ref.url } : ref));
    expect(extractReferences(pages).every(({ ref }) => ref.kind === 'page')).toBe(true);
  });

  test('links are resolved by the caller with their purpose', () => {
    const asked: string[] = [];
    parseMarkdown('[a](a.md) <img src="i.png">\n\n{% include "x.md" %}', {
      resolveLink: (href, context) => {
        asked.push(`${context} ${href}`);
        return undefined;
      },
    });
    expect(asked.toSorted()).toEqual(['image i.png', 'link a.md', 'reusable-content x.md']);
  });
});

describe('paths', () => {
  test.each([
    ['a/b.md', '../c.md#x', 'c.md'],
    ['a/b.md', './c%20d.md', 'a/c d.md'],
    ['b.md', '../../c.md', undefined],
    ['a/b.md', '/files/x', 'files/x'],
    ['a/b.md', 'https://e.org/x', undefined],
    ['a/b.md', '#x', undefined],
    ['a/b/README.md', './', 'a/b'],
  ])('%s: %s is %s', (from, href, target) => {
    expect(resolveRelativePath(from, href)).toBe(target);
  });

  test.each([
    ['a/b.md', 'a/c.md', 'c.md'],
    ['a/b.md', 'c.md', '../c.md'],
    ['b.md', 'a/c/d.md', 'a/c/d.md'],
    ['a/x/b.md', 'a/y/c.md', '../y/c.md'],
  ])('from %s to %s is %s', (from, to, path) => {
    expect(relativePath(from, to)).toBe(path);
    expect(resolveRelativePath(from, path)).toBe(to);
  });
});

describe('summaries', () => {
  const markdown =
    '# Table of contents\n\n* [Start](README.md)\n* [A & B](a/README.md)\n  * [C\\_d](a/c.md "Short")\n\n## Group\n\n* [Outside](https://example.org)\n* Plain\n';

  test('are read and written back', () => {
    const summary = parseSummary(markdown);
    expect(summary.groups).toEqual([
      {
        entries: [
          { title: 'Start', path: 'README.md', children: [] },
          {
            title: 'A & B',
            path: 'a/README.md',
            children: [{ title: 'C_d', path: 'a/c.md', linkTitle: 'Short', children: [] }],
          },
        ],
      },
      {
        title: 'Group',
        entries: [
          { title: 'Outside', url: 'https://example.org', children: [] },
          { title: 'Plain', children: [] },
        ],
      },
    ]);
    expect(serializeSummary(summary)).toBe(markdown);
  });
});

describe('fields of a page', () => {
  const frontMatter = {
    description: 'D',
    icon: 'star',
    hidden: true,
    if: 'visitor.claims.a',
    vars: { version: 'v1', count: 2 },
    cover: 'a.png',
    coverY: 10,
    coverHeight: 300,
    layout: { width: 'wide', cover: { visible: true, size: 'hero' }, title: { visible: false } },
    metaLinks: { canonical: 'https://e.org', alternates: ['b.md'] },
    tags: [{ tag: 'beta', primary: true }],
    custom: { kept: ['x'] },
  };

  test('come from front matter, the rest is kept, and all of it goes back', () => {
    const { fields, rest } = readPageFields(frontMatter);
    expect(fields).toMatchObject({
      condition: 'visitor.claims.a',
      variables: { version: 'v1' },
      cover: { ref: { kind: 'url', url: 'a.png' }, yPos: 10, height: 300 },
      layout: { width: 'wide', cover: true, coverSize: 'hero', title: false },
      metaLinks: { canonical: { kind: 'url', url: 'https://e.org' } },
      tags: [{ tag: { kind: 'tag', tag: 'beta' }, primary: true }],
    });
    expect(rest).toEqual({ custom: { kept: ['x'] } });
    expect(writePageFields(fields, rest)).toEqual(frontMatter);
  });

  test('a value of the wrong type is kept instead of read', () => {
    expect(readPageFields({ hidden: 'yes', tags: 'x' })).toEqual({ fields: {}, rest: { hidden: 'yes', tags: 'x' } });
  });
});

test('ten thousand equal headings get different anchors, in no time to speak of', () => {
  const { document } = parseMarkdown('## Same');
  const nodes = Array.from({ length: 10_000 }, () => document.nodes[0] ?? []).flat();
  const started = performance.now();
  const ids = sections({ ...document, nodes }, 'Page').map(({ id }) => id);
  expect(performance.now() - started).toBeLessThan(2_000);
  expect(ids.slice(0, 4)).toEqual(['', 'same', 'same-1', 'same-2']);
  expect(new Set(ids).size).toBe(10_001);
});
