import { describe, expect, test } from '@jest/globals';
import { parseMarkdown } from './parse/index.ts';
import { serializeMarkdown } from './write/index.ts';

/** Characters of one input: three times as many in the longer checks (`LONG_TESTS`). */
const size = process.env.LONG_TESTS ? 60_000 : 20_000;
const times = (text: string): string => text.repeat(Math.ceil(size / text.length));

const inputs: Readonly<Record<string, string>> = {
  'ten thousand quotes': `${'>'.repeat(10_000)} a`,
  'opening brackets': times('['),
  'opening images': times('!['),
  'nested links': `${'['.repeat(20_000)}a${']'.repeat(20_000)}`,
  'emphasis that never closes': times('*a '),
  'mixed emphasis': times('_a*b'),
  backticks: Array.from({ length: 300 }, (_, count) => '`'.repeat(count)).join(' '),
  'angle brackets': times('<a '),
  comments: times('<!-- a '),
  'block tags that never close': times('{% hint style="info" %}\n'),
  'block tags nested deeply': `${'{% hint style="info" %}\n'.repeat(2000)}${'{% endhint %}\n'.repeat(2000)}`,
  'attributes that never end': times('{% @a/b c="\n'),
  details: times('<details>\n<summary>'),
  tables: times('<table>\n'),
  'list markers': `${times('- ')}a`,
  'deep lists': Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth * 2)}- a`).join('\n'),
  'inline elements': `${'<b>'.repeat(20_000)}${'</b>'.repeat(20_000)}`,
  entities: times('&a;'),
  pipes: `${'| a '.repeat(3000)}|\n${'| - '.repeat(3000)}|\n${'| a |\n'.repeat(100)}`,
  definitions: times('[a]: b\n'),
  math: times('$$\n'),
  fences: times('- ```\n'),
  'html in html': `<table><tr><td>${'<b>'.repeat(20_000)}</td></tr></table>`,
};

describe('hostile input', () => {
  test.each(Object.entries(inputs))('%s: read and written in bounded time, without an error', (_, markdown) => {
    const start = performance.now();
    const page = parseMarkdown(markdown);
    const written = serializeMarkdown(page.document, page);
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(parseMarkdown(written).document.nodes.length).toBe(page.document.nodes.length);
  });

  test('blocks nest only as deep as a request may', () => {
    const depth = (value: unknown): number =>
      value === null || typeof value !== 'object' ? 0 : 1 + Math.max(0, ...Object.values(value).map(depth));
    for (const markdown of [
      inputs['ten thousand quotes'] ?? '',
      inputs['deep lists'] ?? '',
      inputs['block tags nested deeply'] ?? '',
    ])
      expect(depth(parseMarkdown(markdown).document)).toBeLessThan(90);
  });

  test('no text is lost when nesting is too deep', () => {
    const { document } = parseMarkdown(`${'> '.repeat(200)}the end`);
    expect(serializeMarkdown(document)).toContain('the end');
  });

  test.each([
    '[a](javascript:alert(1))',
    '<a href="javascript:alert(1)">a</a>',
    '<img src="javascript:x">',
    '{% embed url="javascript:x" %}',
  ])('%s is text', (markdown) => {
    expect(JSON.stringify(parseMarkdown(markdown).document)).not.toContain('"url"');
  });

  test.each([
    '__proto__: 1',
    'a: {constructor: 1}',
    'a: &x [1]\nb: [*x, *x]',
    'a: [',
    '- list',
    '!!js/function "x": 1',
  ])('front matter %j is refused and stays text', (yaml) => {
    const page = parseMarkdown(`---\n${yaml}\n---\n\ntext`);
    expect(page.frontMatter).toEqual({});
  });
});
