import { describe, expect, test } from '@jest/globals';
import { parseMarkdown } from '../markdown/parse/index.ts';
import { extractReferences } from './references.ts';
import { findUnsafeAddress, isUnsafeAddress } from './unsafe-addresses.ts';

describe('addresses that would run something', () => {
  test.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\tscript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    'vbscript:x',
    'data:text/html,<script>',
    'data:image/svg+xml,<svg onload=x>',
  ])('%j', (address) => {
    expect(isUnsafeAddress(address)).toBe(true);
    expect(isUnsafeAddress(address, 'image')).toBe(true);
  });

  test.each(['https://example.org/javascript:1', 'mailto:a@example.org', '#javascript:', '/data:x', 'database:1', ''])(
    '%j is harmless',
    (address) => expect(isUnsafeAddress(address)).toBe(false),
  );

  test('a picture in its address is fine as a picture only', () => {
    expect(isUnsafeAddress('data:image/png;base64,AAAA', 'image')).toBe(false);
    expect(isUnsafeAddress('data:image/png;base64,AAAA')).toBe(true);
  });

  test('are found wherever a document leads to one, and not in its text', () => {
    const ref = { kind: 'url', url: 'javascript:x' };
    const text = { object: 'text', leaves: [{ text: 'javascript:x' }] };
    expect(findUnsafeAddress({ nodes: [text] })).toBeUndefined();
    expect(findUnsafeAddress({ nodes: [{ type: 'image', data: { ref } }] })).toBe('javascript:x');
    expect(findUnsafeAddress({ nodes: [{ nodes: [{ type: 'link', data: { ref }, nodes: [text] }] }] })).toBe(
      'javascript:x',
    );
    expect(findUnsafeAddress({ data: { records: { r: { values: { card: ref } } } } })).toBe('javascript:x');
    expect(
      findUnsafeAddress({ type: 'image', data: { ref: { kind: 'url', url: 'data:image/png;base64,A' } } }),
    ).toBeUndefined();
  });

  test.each([
    '[a](javascript:alert(1))',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="java&#x0A;script:alert(1)" class="button primary">x</a>',
    '{% embed url="javascript:alert(1)" %}',
    '{% content-ref url="data:text/html,x" %}\n[x](data:text/html,x)\n{% endcontent-ref %}',
    '<javascript:alert(1)>',
  ])('markdown makes none: %s', (markdown) => {
    const { document } = parseMarkdown(markdown, { title: false });
    expect(extractReferences(document)).toEqual([]);
    expect(findUnsafeAddress(document)).toBeUndefined();
  });
});
