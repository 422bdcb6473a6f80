import fc from 'fast-check';

const words = [
  'alpha',
  'beta',
  'Gamma delta',
  '1.',
  'x_y_z',
  'a*b',
  'List<string>',
  '[x]',
  'café',
  '漢字',
  '&amp;',
  '&copy;',
  'C:\\dir',
  '!',
  ':smile:',
  ':8080:',
  'a|b',
  '~',
  '$',
  '$$',
  '#',
  '<b>',
  '</div>',
  'http://e.org/?a=1&b=2',
  '😀',
];
const word = fc.constantFrom(...words);
const plain = fc.array(word, { minLength: 1, maxLength: 5 }).map((list) => list.join(' '));

/** A run of inline markdown. */
const inline = fc.oneof(
  { weight: 4, arbitrary: plain },
  plain.map((text) => `**${text}**`),
  plain.map((text) => `_${text}_`),
  plain.map((text) => `*${text}*`),
  plain.map((text) => `~~${text}~~`),
  plain.map((text) => `\`${text}\``),
  plain.map((text) => `[${text}](https://e.org/a_b)`),
  plain.map((text) => `[${text}](<../a b.md> "ti\\"tle")`),
  plain.map((text) => `![${text}](x.png)`),
  plain.map((text) => `<kbd>${text}</kbd>`),
  plain.map((text) => `<mark style="color:red;">${text}</mark>`),
  plain.map((text) => `<sup>${text}</sup>`),
  fc.constantFrom(
    '<br>',
    '$$x^2$$',
    '<code class="expression">a.b</code>',
    '<https://e.org>',
    '\\\n',
    '  \n',
    '\n',
    '[a.md](a.md "mention")',
    '<i class="fa-star">:star:</i>',
    'text[^1]',
    '***',
  ),
);
const line = fc
  .array(inline, { minLength: 1, maxLength: 4 })
  .chain((parts) => fc.constantFrom(' ', '').map((glue) => parts.join(glue)));

const indent = (text: string, by: string): string =>
  text
    .split('\n')
    .map((one) => (one === '' ? '' : by + one))
    .join('\n');

/** A page of markdown in the dialect, blocks nested a few levels. */
export const markdownPage: fc.Arbitrary<string> = fc.letrec<{ block: string; blocks: string }>((tie) => ({
  blocks: fc.array(tie('block'), { minLength: 1, maxLength: 4 }).map((list) => list.join('\n\n')),
  block: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    line,
    line.map((text) => `## ${text.replaceAll('\n', ' ')}`),
    line.map((text) => `##### ${text.replaceAll('\n', ' ')} <a href="#i" id="i"></a>`),
    fc.constantFrom(
      '---',
      '***',
      '___',
      '<!-- note -->',
      '$$\na\n$$',
      '{% embed url="https://e.org" %}',
      '```js\nlet a = `1`;\n\n  b\n```',
      '{% code title="a" %}\n```\nx\n```\n{% endcode %}',
      '<figure><img src="a.png" alt=""><figcaption><p>cap</p></figcaption></figure>',
      '{% include "../x.md" %}',
      '{% @mermaid/diagram content="a \\"b\\"" %}',
      '[^1]: note',
      '{% file src="a.pdf" %}\ncaption\n{% endfile %}',
      '{% content-ref url="a.md" %}\n[a.md](a.md)\n{% endcontent-ref %}',
      '    indented code',
      '[ref]: http://x.y',
    ),
    fc
      .array(line, { minLength: 1, maxLength: 3 })
      .map(
        (cells) =>
          `| A | B |\n| --- | :-: |\n${cells.map((cell) => `| ${cell.replaceAll('\n', ' ')} | x |`).join('\n')}`,
      ),
    fc
      .array(line, { minLength: 1, maxLength: 3 })
      .map(
        (cells) =>
          `<table><thead><tr><th width="10">A</th></tr></thead><tbody>${cells.map((cell) => `<tr><td>${cell.replaceAll('\n', ' ')}</td></tr>`).join('')}</tbody></table>`,
      ),
    fc
      .tuple(tie('blocks'), fc.constantFrom('- ', '* ', '+ ', '1. ', '3) ', '- [ ] ', '- [x] '))
      .map(([inner, marker]) => marker + indent(inner, ' '.repeat(marker.replace(/\[.*/, '').length)).trimStart()),
    fc
      .array(line, { minLength: 1, maxLength: 3 })
      .map((items) => items.map((item) => `- ${item.replaceAll('\n', '\n  ')}`).join('\n')),
    tie('blocks').map((inner) =>
      inner
        .split('\n')
        .map((one) => `> ${one}`)
        .join('\n'),
    ),
    tie('blocks').map((inner) => `{% hint style="info" %}\n${inner}\n{% endhint %}`),
    tie('blocks').map((inner) => `{% tabs %}\n{% tab title="T \\"q\\"" %}\n${inner}\n{% endtab %}\n{% endtabs %}`),
    tie('blocks').map((inner) => `<details>\n\n<summary>T <strong>s</strong></summary>\n\n${inner}\n\n</details>`),
    tie('blocks').map((inner) => `{% stepper %}\n{% step %}\n${inner}\n{% endstep %}\n{% endstepper %}`),
  ),
})).blocks;

/** Characters that mean something somewhere, in any order. */
export const markdownNoise: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      ' ',
      ' ',
      '\n',
      '\n',
      '*',
      '_',
      '`',
      '[',
      ']',
      '(',
      ')',
      '<',
      '>',
      '!',
      '#',
      '-',
      '+',
      '=',
      '|',
      '~',
      '$',
      '\\',
      '&',
      ';',
      ':',
      '1',
      '.',
      '"',
      '{%',
      '%}',
      'hint',
      'end',
      '\t',
      '<b>',
      '</b>',
      '<details>',
      '</details>',
      '\u00a0',
      '/',
      '^',
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));
