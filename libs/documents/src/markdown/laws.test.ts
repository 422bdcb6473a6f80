import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { markdownNoise, markdownPage } from '../testing/arbitraries.ts';
import { parseMarkdown } from './parse/index.ts';
import { serializeMarkdown } from './write/index.ts';

const write = (page: ReturnType<typeof parseMarkdown>): string => serializeMarkdown(page.document, page);
const wordsOf = (text: string): Set<string> => new Set(text.match(/[\p{L}\p{N}]+/gu));

const writtenPages = new Map<string, string>();

/** Reading what was written gives the same page, and writing that gives the same text. */
function roundTrip(markdown: string): string {
  const page = parseMarkdown(markdown);
  const written = write(page);
  const again = parseMarkdown(written);
  // The comparison of the test framework is slow on large trees, and only needed to show a difference.
  if (!isDeepStrictEqual(again, page)) expect(again).toEqual(page);
  expect(write(again)).toBe(written);
  return written;
}

describe('laws of reading and writing', () => {
  test('pages in the dialect come back as the same document', () => {
    fc.assert(
      fc.property(markdownPage, (markdown) => void roundTrip(markdown)),
      { numRuns: process.env.LONG_TESTS ? 400 : 60, seed: 6 },
    );
  });

  test('any characters come back as the same document', () => {
    fc.assert(
      fc.property(markdownNoise, (markdown) => void roundTrip(markdown)),
      { numRuns: process.env.LONG_TESTS ? 1600 : 200, seed: 7 },
    );
  });

  test('the same input gives the same keys, each once', () => {
    fc.assert(
      fc.property(markdownPage, (markdown) => {
        const { document } = parseMarkdown(markdown);
        expect(isDeepStrictEqual(parseMarkdown(markdown).document, document)).toBe(true);
        const keys = JSON.stringify(document).match(/"key":"[^"]+"/g) ?? [];
        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: 50, seed: 8 },
    );
  });
});

const folder = join(import.meta.dirname, '../../../../../shared/data/elsa-docs');
const all = existsSync(folder)
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .sort()
  : [];
/** Every fourth page, and all of them in the longer checks (`LONG_TESTS`). */
const pages = process.env.LONG_TESTS ? all : all.filter((_, index) => index % 4 === 0);

describe('a real documentation space', () => {
  if (pages.length === 0) {
    // biome-ignore lint/suspicious/noSkippedTests: the pages are not part of the project.
    test.skip('SKIPPED: ../shared/data/elsa-docs is not beside the project', () => undefined);
    return;
  }

  test.each(pages)('%s comes back', (path) => {
    const markdown = readFileSync(join(folder, path), 'utf8');
    const text = roundTrip(markdown);
    writtenPages.set(path, text);
    const written = wordsOf(text);
    // Labels of link definitions are no text: the links that use them carry their address instead.
    const source = markdown.replace(/\]\[[^\]]+\]/g, ']').replace(/^\[[^\]]+\]:/gm, '');
    expect([...wordsOf(source)].filter((word) => !written.has(word))).toEqual([]);
  });

  test('most lines come back unchanged', () => {
    let lines = 0;
    let kept = 0;
    for (const path of pages) {
      const markdown = readFileSync(join(folder, path), 'utf8');
      const written = new Map<string, number>();
      for (const line of (writtenPages.get(path) ?? write(parseMarkdown(markdown))).split('\n'))
        written.set(line, (written.get(line) ?? 0) + 1);
      for (const line of markdown.split('\n')) {
        lines++;
        const left = written.get(line) ?? 0;
        if (left > 0) kept++;
        written.set(line, left - 1);
      }
    }
    expect(kept / lines).toBeGreaterThan(0.97);
  });
});
