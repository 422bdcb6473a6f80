import { describe, expect, test } from '@jest/globals';
import { visibleLine } from './schema.ts';

const isLine = (text: string, marks = 1): boolean => new RegExp(visibleLine(marks), 'u').test(text);

describe('a line that people read', () => {
  test.each(['a', ' a ', 'Zoë', '日本', '👩‍👩‍👧', 'می‌خواهم', '\u200Ba\u200B', '-', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'])('%j is one', (text) => {
    expect(isLine(text)).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['spaces', ' \u00A0\u2003\u3000'],
    ['zero-width spaces and joiners', '\u200B\u200C\u200D\u2060\uFEFF'],
    ['marks of direction', '\u200E\u200F\u202E\u2066\u061C'],
    ['soft hyphens and fillers', '\u00AD\u115F\u1160\u3164\uFFA0\u034F\u2800'],
    ['variation selectors and tags', '\uFE0F\u{E0100}\u{E0041}'],
    ['half a character', '\uD800'],
    ['control characters of the second block', '\u0085\u009F'],
  ])('%s alone is none', (_what, text) => {
    expect(isLine(text)).toBe(false);
  });

  test.each(['a\nb', 'a\u0000', '\ta', 'a\u007F'])('%j has a control character', (text) => {
    expect(isLine(text)).toBe(false);
  });

  test('has as many visible characters as are asked for', () => {
    for (const text of ['a', 'a\u200B', '\u200Ba ']) expect(isLine(text, 2)).toBe(false);
    for (const text of ['ab', 'a b', 'a\u200Bb', '日本']) expect(isLine(text, 2)).toBe(true);
  });

  test('is read in time that grows with its length alone', () => {
    const long = `${' a\u200B'.repeat(300_000)}\n`;
    const started = performance.now();
    expect(isLine(long, 2)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
