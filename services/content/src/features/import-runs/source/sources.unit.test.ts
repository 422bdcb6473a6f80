import { describe, expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { fits, isAllowed, parseRobots } from './robots.ts';
import { canonicalUrl, isInScope, keyOfUrl, scopeOf } from './scope.ts';
import { pathInArchive, unzip } from './unzip.ts';

const never = new AbortController().signal;

describe('archives', () => {
  const limits = { entries: 100, entryBytes: 1_000_000, totalBytes: 5_000_000 };
  const read = async (archive: Uint8Array, wanted: (path: string) => boolean = () => true) => {
    const files = new Map<string, number | undefined>();
    await unzip(archive, limits, wanted, (path, bytes) => files.set(path, bytes?.length), never);
    return files;
  };

  test('a bomb is noticed while it unpacks, whatever it says of itself', async () => {
    const packed = zipSync({ '0.md': new Uint8Array(900_000) });
    // What is packed once stands there sixty times.
    const entry = packed.subarray(0, Buffer.from(packed).indexOf('PK\u0001\u0002'));
    const bomb = Buffer.concat([...Array.from({ length: 60 }, () => entry), packed.subarray(entry.length)]);
    expect(bomb.length).toBeLessThan(100_000);
    await expect(read(bomb)).rejects.toThrow('more than 5000000 bytes when it is unpacked');
    expect((await read(bomb, () => false)).size).toBe(0);
  });
  test('what is too large is named, what is cut off refused', async () => {
    const archive = zipSync({ 'large.md': new Uint8Array(1_100_000), 'small.md': strToU8('# S') });
    expect([...(await read(archive))]).toEqual([
      ['large.md', undefined],
      ['small.md', 3],
    ]);
    await expect(read(archive.slice(0, 200))).rejects.toThrow(/cut off|damaged/);
    await expect(read(strToU8('no archive'))).rejects.toThrow('empty');
    const many = zipSync(Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`${at}.md`, strToU8('x')])));
    await expect(read(many)).rejects.toThrow('more than 100 files');
  });
  test('paths stay inside', () => {
    expect(pathInArchive('a\\b/./c.md')).toBe('a/b/c.md');
    for (const path of ['../a.md', 'a/../../b.md', 'folder/', '__MACOSX/a.md', 'a/._b.md', 'a\u0000.md'])
      expect(pathInArchive(path)).toBeUndefined();
  });
});

describe('addresses of a website', () => {
  test('spellings of one address have one key', () => {
    const key = keyOfUrl('https://e.org/docs');
    for (const other of ['http://e.org/docs/', 'https://e.org/docs/index.html']) expect(keyOfUrl(other)).toBe(key);
    expect(canonicalUrl('/a?utm_source=x&b=1#c', 'https://e.org')).toBe('https://e.org/a?b=1');
    for (const none of ['ftp://e.org/', 'javascript:alert(1)', 'https://me:pw@e.org/', 'no'])
      expect(canonicalUrl(none)).toBeUndefined();
  });
  test('the scope is the path of the first page', () => {
    const docs = scopeOf('https://e.org/docs/');
    expect(isInScope('https://e.org/docs', docs)).toBe(true);
    expect(isInScope('https://e.org/docs/a/b', docs)).toBe(true);
    for (const outside of [
      'https://e.org/docs2',
      'https://e.org/',
      'https://e.org:81/docs/a',
      'https://x.e.org/docs/a',
    ])
      expect(isInScope(outside, docs)).toBe(false);
    expect(isInScope('https://e.org/docs/b', scopeOf('https://e.org/docs/index.html'))).toBe(true);
    expect(isInScope('https://e.org/docs/ab', scopeOf('https://e.org/docs/a'))).toBe(false);
  });
});

describe('robots.txt', () => {
  test('the longest rule of our group decides', () => {
    const rules = parseRobots(
      'User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /a # why\nAllow: /a/b\nDisallow: /*.pdf$\nDisallow:\n',
    );
    const allowed = (path: string) => isAllowed(rules, `https://e.org${path}`);
    expect([allowed('/'), allowed('/a/c'), allowed('/a/b/c'), allowed('/x.pdf'), allowed('/x.pdf?y')]).toEqual([
      ...[true, false, true],
      ...[false, true],
    ]);
    expect(
      isAllowed(parseRobots('User-agent: Bindery\nDisallow: /\nUser-agent: *\nAllow: /\n'), 'https://e.org/'),
    ).toBe(false);
  });
  test('a hostile pattern costs no more than its length', () => {
    const started = performance.now();
    expect(fits(`${'*a'.repeat(100)}b`, `/${'a'.repeat(2_000)}`)).toBe(false);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
