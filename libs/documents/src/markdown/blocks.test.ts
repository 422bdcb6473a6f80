import { describe, expect, test } from '@jest/globals';
import { parseMarkdown } from './parse/index.ts';
import { serializeMarkdown } from './write/index.ts';

/** Sources in the dialect's own style, which come back character by character, with the type of the first block. */
const verbatim: readonly [type: string, markdown: string][] = [
  ['paragraph', 'Plain text, *not* a heading.'.replaceAll('*', '_')],
  ['paragraph', 'A line\nand a wrapped one.'],
  ['paragraph', 'Hard\\\nbreak'],
  ['paragraph', '**bold** _italic_ ~~struck~~ `code` <kbd>key</kbd> x<sup>2</sup> H<sub>2</sub>O'],
  ['paragraph', '<mark style="color:red;background-color:blue;">warm</mark>'],
  ['paragraph', '[link](https://example.org) and [titled](a.md "Title")'],
  ['paragraph', '[page.md](../page.md "mention")'],
  ['paragraph', 'Look ![alt](a.png "caption") here'],
  ['paragraph', 'Line <img src="a.png" alt="a" data-size="line"> image'],
  [
    'paragraph',
    '<picture><source srcset="d.png" media="(prefers-color-scheme: dark)"><img src="l.png" alt="a"></picture> both',
  ],
  ['paragraph', ':smile: and :8080: stay'],
  ['paragraph', '<i class="fa-star">:star:</i> icon'],
  ['paragraph', '<code class="expression">space.vars.version</code>'],
  ['paragraph', 'Euler: $$e^{i\\pi}$$'],
  [
    'paragraph',
    '<a href="https://e.org" class="button primary" data-icon="star">Go</a> <button type="button" class="button secondary" data-action="ask" data-query="How?">Ask</button>',
  ],
  ['paragraph', '[word](#user-content-fn-1)[^1]\n\n[^1]: The note.\n\n    More of it.'],
  ['paragraph', '<p align="center">Centered <strong>text</strong></p>'],
  ['paragraph', 'List\\<b> and List<string>, 1 < 2 & 3 &amp;amp;'],
  ['paragraph', '\\# no heading'],
  ['paragraph', '1\\. no list'],
  ['paragraph', '<!-- a comment -->'],
  ['heading-1', '## Heading <a href="#id" id="id"></a>'],
  ['heading-2', '### 1. Heading'],
  ['heading-3', '#### Heading'],
  ['heading-3', '###### Deep'],
  ['list-unordered', '* a\n* b\n  * c\n\n    more\n* d'.replace('\n\n    more', '')],
  ['list-unordered', '- a\n- b'],
  ['list-unordered', '* a\n\n  second\n\n* b'],
  ['list-ordered', '3. c\n4. d'],
  ['list-tasks', '* [ ] open\n* [x] done'],
  ['blockquote', '> quoted\n>\n> > deeper'],
  ['divider', '***'],
  ['divider', 'a\n\n---\n\nb'.slice(3, 6)],
  ['hint', '{% hint style="warning" icon="bolt" %}\nCareful\n{% endhint %}'],
  [
    'tabs',
    '{% tabs %}\n{% tab title="One" %}\n{% hint style="info" %}\n```js\nlet a;\n```\n{% endhint %}\n{% endtab %}\n\n{% tab title="Two" %}\nb\n{% endtab %}\n{% endtabs %}',
  ],
  ['stepper', '{% stepper %}\n{% step %}\n#### First\n\ntext\n{% endstep %}\n{% endstepper %}'],
  [
    'columns',
    '{% columns %}\n{% column width="50%" %}\nleft\n{% endcolumn %}\n\n{% column %}\nright\n{% endcolumn %}\n{% endcolumns %}',
  ],
  [
    'updates',
    '{% updates format="full" %}\n{% update date="2025-12-25" tags="beta,new" %}\n## News\n{% endupdate %}\n{% endupdates %}',
  ],
  ['code', '```\nplain\n\n  text\n```'],
  ['code', '{% code title="a.js" overflow="wrap" lineNumbers="true" %}\n```js\nlet a;\n```\n{% endcode %}'],
  ['code', '````markdown\n```js\n```\n````'],
  [
    'code',
    '<pre class="language-js" data-title="a"><code class="lang-js">let a;\n<strong>let b &#x3C; c;\n</strong></code></pre>',
  ],
  [
    'prompt',
    '{% prompt description="Ask" icon="star" defaultExpanded="full" %}\n```markdown\nDo it\n```\n{% endprompt %}',
  ],
  ['if', '{% if visitor.claims.isPro === true %}\nPro\n{% endif %}'],
  ['embed', '{% embed url="https://example.org/video" %}'],
  ['embed', '{% embed url="https://example.org/video" %}\nCaption\n{% endembed %}'],
  ['file', '{% file src="a.pdf" %}\nThe file\n{% endfile %}'],
  ['content-ref', '{% content-ref url="a/b.md" %}\n[b.md](a/b.md)\n{% endcontent-ref %}'],
  ['reusable-content', '{% include "../.gitbook/includes/x.md" %}'],
  ['swagger', '{% openapi src="a.yaml" path="/pets" method="get" %}\n[a.yaml](a.yaml)\n{% endopenapi %}'],
  [
    'openapi-operation',
    '{% openapi-operation spec="pets" path="/pets" method="get" %}\n[OpenAPI pets](https://e.org/a.yaml)\n{% endopenapi-operation %}',
  ],
  ['openapi-schemas', '{% openapi-schemas spec="pets" schemas="Pet,Dog" grouped="false" %}'],
  ['openapi-webhook', '{% openapi-webhook spec="pets" name="created" method="post" %}'],
  ['integration', '{% @mermaid/diagram content="graph TD; A[\\"x\\"]" url="https://e.org" %}'],
  ['math', '$$\nf(x) = x * e^{2 pi i \\xi x}\n$$'],
  ['expandable', '<details>\n\n<summary>Title <code>x</code></summary>\n\nBody\n\n* list\n\n</details>'],
  ['expandable', '<details open>\n\n<summary>T</summary>\n\nBody\n\n</details>'],
  [
    'images',
    '<figure><img src="a.png" alt="An image" width="375"><figcaption><p>Caption <em>here</em></p></figcaption></figure>',
  ],
  [
    'images',
    '<div align="left" data-full-width="true" data-with-frame="true"><figure><img src="a.png" alt=""></figure> <figure><picture><source srcset="d.png" media="(prefers-color-scheme: dark)"><img src="b.png" alt=""></picture><figcaption></figcaption></figure></div>',
  ],
  ['images', '![alt](a.png)'],
  ['table', '| A   |   B    |    C |\n| --- | :----: | ---: |\n| a   |  b\\|b  |    1 |\n| x   | `long` | 1000 |'],
  ['table', '| A | Long header |\n| --- | --- |\n| a | b |'],
  [
    'table',
    '<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th><th data-hidden data-card-cover data-type="image"></th></tr></thead><tbody><tr><td><h4>Title</h4></td><td><a href="a.md">a.md</a></td><td><a href="x.png">x.png</a></td></tr></tbody></table>',
  ],
  [
    'table',
    '<table><thead><tr><th>A</th><th>B</th><th>C</th></tr></thead><tbody><tr><td colspan="2">ab</td><td rowspan="2">c</td></tr><tr><td>a</td><td>b</td></tr></tbody></table>',
  ],
  [
    'table',
    '<table><thead><tr><th width="100">N</th><th data-type="number">V</th><th data-type="checkbox">C</th><th data-type="rating" data-max="5">R</th><th data-type="select" data-multiple>S<select><option value="v" label="L" color="blue"></option></select></th></tr></thead><tbody><tr><td>a<br>b</td><td>1</td><td>true</td><td>3</td><td><span data-option="v">L</span></td></tr></tbody></table>',
  ],
];

describe('every kind of block', () => {
  test.each(verbatim)('%s: %j', (type, markdown) => {
    const { document } = parseMarkdown(markdown);
    expect(document.nodes[0]?.type).toBe(type);
    expect(serializeMarkdown(document).trim()).toBe(markdown);
  });

  test('a fence inside a hint inside a tab inside a list item', () => {
    const markdown =
      '* item\n\n  {% tabs %}\n  {% tab title="T" %}\n  {% hint style="info" %}\n  ```js\n  {% endhint %}\n  ```\n  {% endhint %}\n  {% endtab %}\n  {% endtabs %}';
    const { document } = parseMarkdown(markdown);
    expect(JSON.stringify(document)).toContain('"type":"code"');
    expect(serializeMarkdown(document).trim()).toBe(markdown);
  });

  test('attributes that the block does not know are kept', () => {
    const markdown = '{% hint style="info" size="big" %}\na\n{% endhint %}';
    expect(serializeMarkdown(parseMarkdown(markdown).document).trim()).toBe(markdown);
  });
});

describe('cells of tables', () => {
  const textsOf = (markdown: string): readonly (readonly string[])[] => {
    const [table] = parseMarkdown(markdown, { title: false }).document.nodes;
    if (table?.type !== 'table') return [];
    const { definition, records } = table.data;
    const text = (name: unknown): string =>
      JSON.stringify(table.fragments.find(({ fragment }) => fragment === name)?.nodes ?? [])
        .split('"text":"')
        .slice(1)
        .map((rest) => rest.slice(0, rest.indexOf('"')))
        .join('');
    return Object.values(records).map(({ values }) => Object.keys(definition).map((id) => text(values[id])));
  };
  const head = '| A | B |\n| - | - |\n';

  test('a pipe in inline code splits no cell for which there is no column', () => {
    expect(textsOf(`${head}| \`a|b\` | c |\n| \`\`x|\`y\`\` | \`z||\` |\n`)).toEqual([
      ['a|b', 'c'],
      ['x|`y', 'z||'],
    ]);
    const written = serializeMarkdown(parseMarkdown(`${head}| \`a|b\` | c |\n`).document);
    expect(written).toContain('`a\\|b`');
    expect(textsOf(written)).toEqual([['a|b', 'c']]);
  });

  test('rows that fit as they are stay as they are', () => {
    expect(textsOf(`${head}| \`a | b\` |\n| \`a\\|b\` | c |\n| a \\\`b | c |\n`)).toEqual([
      ['`a', 'b`'],
      ['a|b', 'c'],
      ['a `b', 'c'],
    ]);
    expect(textsOf(`${head}| \`a | b | c |\n`)).toEqual([['`a', 'b']]);
  });

  test('many pipes and backticks take no longer than they are', () => {
    const row = `| ${'`|``|'.repeat(1500)} |`;
    const started = performance.now();
    parseMarkdown(`${head}${`${row}\n`.repeat(200)}`);
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test('cells stand past those that reach into their row, and spans make no columns', () => {
    const table = (rows: string) => `<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody>${rows}</tbody></table>`;
    expect(textsOf(table('<tr><td rowspan="2">a</td><td>b</td></tr><tr><td>d</td></tr>'))).toEqual([
      ['a', 'b'],
      ['', 'd'],
    ]);
    const wide = parseMarkdown(table('<tr><td colspan="999">a</td></tr><tr><td rowspan="0" colspan="x">b</td></tr>'));
    expect(wide.document.nodes[0]).toMatchObject({
      data: {
        cellMerges: [{ anchor: { record: 'r0', column: 'c0' }, rowSpan: 1, colSpan: 2 }],
        definition: { c0: {}, c1: {} },
      },
    });
    expect(serializeMarkdown(wide.document)).toContain('<td colspan="2">a</td></tr><tr><td>b</td><td></td>');
  });

  test('a merge over a cell that says something is left out: its text counts', () => {
    const { document } = parseMarkdown(
      '<table><thead><tr><th>A</th><th>B</th></tr></thead><tbody><tr><td>a</td><td>b</td></tr></tbody></table>',
    );
    const [table] = document.nodes;
    if (table?.type !== 'table') throw new Error('no table');
    const anchor = { record: 'r0', column: 'c0' };
    const merged = { ...table, data: { ...table.data, cellMerges: [{ anchor, rowSpan: 1, colSpan: 2 }] } };
    const written = serializeMarkdown({ ...document, nodes: [merged] });
    expect(written).toContain('<td>a</td><td>b</td>');
    expect(written).not.toContain('colspan');
  });
});

describe('pages', () => {
  test('front matter, title and links', () => {
    const page = parseMarkdown('---\ndescription: D\nmine: [1, two]\n---\n\n# The _title_\n\n[a](b.md#c)\n', {
      resolveLink: (href) => (href.startsWith('b.md') ? { kind: 'anchor', page: 'p1', anchor: 'c' } : undefined),
    });
    expect(page.frontMatter).toEqual({ description: 'D', mine: [1, 'two'] });
    expect(page.title).toBe('The title');
    expect(page.document.nodes).toHaveLength(1);
    const written = serializeMarkdown(page.document, {
      ...page,
      resolveRef: (ref) => (ref.kind === 'anchor' ? `/pages/${ref.page}#${ref.anchor}` : ''),
    });
    expect(written).toBe('---\ndescription: D\nmine:\n  - 1\n  - two\n---\n\n# The title\n\n[a](/pages/p1#c)\n');
  });

  test('without a title a leading heading stays', () => {
    expect(parseMarkdown('# A', { title: false }).document.nodes[0]).toMatchObject({
      type: 'heading-1',
      data: { level: 1 },
    });
  });

  test('line ends of other systems and a byte order mark', () => {
    expect(parseMarkdown('\uFEFF# A\r\n\r\nb\rc').title).toBe('A');
  });
});
