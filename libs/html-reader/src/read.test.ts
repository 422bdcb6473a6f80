import { parseMarkdown, plainText } from '@bindery/documents';
import { describe, expect, test } from '@jest/globals';
import { readHtml } from './read.ts';

const read = (html: string, trim = true) => {
  const reading = readHtml({ bytes: new TextEncoder().encode(html), url: 'https://e.org/docs/intro/', trim });
  if (!reading.ok) throw new Error(reading.message);
  return reading.page;
};
const blocks = (html: string) => parseMarkdown(read(html).markdown, { title: false, frontMatter: false }).document;

describe('pages of the web', () => {
  test('title, links, canonical address, what asks not to be kept', () => {
    const page = read(`<title>Intro | Site</title><base href="/docs/"><meta name="robots" content="noindex">
      <link rel="canonical" href="/docs/intro"><nav><a href="a#x">A</a><a rel="nofollow" href="b">B</a></nav>
      <main><h1>Intro <a href="#i">¶</a></h1><p>Text</p><h2 id="sec">Second part</h2><img src="p.png" alt="P"></main>`);
    expect(page).toMatchObject({ title: 'Intro', noindex: true, canonical: 'https://e.org/docs/intro' });
    expect(page.links).toEqual(['https://e.org/docs/a', 'https://e.org/docs/']);
    expect(page.anchors).toEqual({ sec: 'second-part' });
    expect(page.images).toEqual(['https://e.org/docs/p.png']);
    expect(page.markdown).not.toContain('A');
  });

  test('blocks become blocks', () => {
    const types =
      blocks(`<main><h2>H</h2><ul><li><input type="checkbox" checked> done</li></ul><pre class="language-js"><span>a</span><br>b</pre>
      <div class="admonition warning"><p>Careful</p></div><details><summary>More</summary><p>Inner</p></details>
      <table><tr><th>A</th></tr><tr><td>1|2</td></tr></table><blockquote>Q</blockquote></main>`).nodes.map(
        ({ type }) => type,
      );
    expect(types).toEqual(['heading-1', 'list-tasks', 'code', 'hint', 'expandable', 'table', 'blockquote']);
  });

  test('nothing that runs comes along, and text stays text', () => {
    const { markdown } = read(
      '<main><p onclick="x()">Safe <a href="jAva\tscript:alert(1)">link</a><img src="javascript:1"><script>alert(2)</script><iframe src="x"></iframe></p><style>p{}</style></main>',
    );
    expect(markdown).toBe('Safe link');
    for (const text of [
      '{% hint %}',
      '{{ x }}',
      '<script>alert(1)</script>',
      '# no',
      '1. no',
      '*a* _b_',
      '[x](y)',
      '$$x$$',
      '`c`',
      ':smile:',
    ]) {
      const escaped = text.replaceAll('<', '&lt;');
      expect(plainText(blocks(`<main><p>a ${escaped}</p></main>`)).trim()).toBe(`a ${text}`);
      expect(plainText(blocks(`<main><p>${escaped}</p></main>`)).trim()).toBe(text);
    }
  });

  test('what is nested too deeply is refused before it is built', () => {
    const reading = readHtml({
      bytes: new TextEncoder().encode('<div>'.repeat(50_000)),
      url: 'https://e.org/',
      trim: true,
    });
    expect(reading).toMatchObject({ ok: false, reason: 'depth' });
    expect(readHtml({ bytes: new Uint8Array(0), url: 'https://e.org/', trim: true })).toMatchObject({ ok: true });
  });
});
