import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore } from '@bindery/blob-store';
import { openFilesystemBlobStore } from '@bindery/blob-store/filesystem';
import { FetchFailed, type GuardedFetch } from '@bindery/guarded-fetch';
import { isProblem } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createFileIngest, type FileInput } from './ingest.ts';

let folder: string;
let blobs: BlobStore;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-files-'));
  blobs = await openFilesystemBlobStore({ folder });
});
afterAll(async () => {
  await blobs.close();
  await rm(folder, { recursive: true, force: true });
});

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const answering =
  (bytes: Uint8Array, contentType = 'text/plain'): GuardedFetch =>
  async (url) => ({ url, contentType, body: inChunks(bytes, 1000) });
const noFetch: GuardedFetch = async () => {
  throw new FetchFailed('blocked', 'The host is not public.');
};
let ids = 0;
const ingest = (files: readonly FileInput[], fetch: GuardedFetch = noFetch) =>
  createFileIngest({ blobs, fetch }).ingest(files, {
    id: () => {
      ids += 1;
      return `file${ids}`;
    },
    signal: AbortSignal.timeout(10_000),
    field: 'changes[0].files',
  });
const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
  } catch (error) {
    if (isProblem(error) && error.kind === 'invalid' && error.message.startsWith('changes[0].files')) return error.code;
    throw error;
  }
  return 'accepted';
};
const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString('base64');
const text = (content: string, name = 'a.txt'): FileInput => ({
  base64: base64(content),
  name,
  contentType: 'text/plain',
});

describe('taking files in', () => {
  test('files in the request are stored under what they hash to', async () => {
    const [first, second] = await ingest([text('hello'), text('hello', ' b.txt ')]);
    expect(first).toMatchObject({ name: 'a.txt', size: 5, contentType: 'text/plain' });
    expect(second).toMatchObject({ name: 'b.txt', sha256: first?.sha256 });
    expect(first?.id).not.toBe(second?.id);
    expect(await blobs.stat(first?.sha256 ?? '')).toEqual({ size: 5 });
  });

  test('a fetched file is stored whole, whatever its chunks', async () => {
    const bytes = Buffer.alloc(1_300_000, 'abcdefg');
    const [file] = await ingest([{ url: 'https://example.org/a', name: 'a.txt' }], answering(bytes));
    expect(file).toMatchObject({ size: bytes.length, contentType: 'text/plain' });
    const blob = await blobs.get(file?.sha256 ?? '');
    const chunks: Uint8Array[] = [];
    for await (const chunk of blob?.body ?? []) chunks.push(chunk);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });

  test('a fetch that was refused is a mistake of the request', async () => {
    expect(await codeOf(ingest([{ url: 'http://127.0.0.1/', name: 'a' }]))).toBe('file.fetch_blocked');
  });

  test.each(['a', 'a===', '!!!!', 'YQ==\n', 'data:text/plain;base64,YQ==', 'YQ=A', 'ZZ_-'])(
    '%j is not base64',
    async (value) => {
      expect(await codeOf(ingest([{ base64: value, name: 'a', contentType: 'text/plain' }]))).toBe(
        'file.invalid_base64',
      );
    },
  );

  test('a megabyte is the most, nothing is too little', async () => {
    const most = { base64: base64(Buffer.alloc(1024 * 1024, 'a')), name: 'a', contentType: 'text/plain' };
    expect(await codeOf(ingest([most]))).toBe('accepted');
    const more = { ...most, base64: base64(Buffer.alloc(1024 * 1024 + 1, 'a')) };
    expect(await codeOf(ingest([more]))).toBe('file.too_large');
    expect(await codeOf(ingest([{ ...most, base64: '' }]))).toBe('file.empty');
    expect(await codeOf(ingest([{ url: 'https://e.org', name: 'a' }], answering(Buffer.alloc(0))))).toBe('file.empty');
  });

  test.each(['.', '..', '  ', 'a\u0000b', 'a\nb', 'a\u2028b', '\ud800'])('%j is not a file name', async (name) => {
    expect(await codeOf(ingest([text('x', name)]))).toBe('file.invalid_name');
  });

  test('names that look like paths, markup or other scripts are names', async () => {
    const names = ['../../etc/passwd', '"><script>', '図 表.png', 'a?b#c%2e', '😀.txt'];
    const files = await ingest(names.map((name) => text('x', name)));
    expect(files.map(({ name }) => name)).toEqual(names);
  });

  test('more than twenty at once are refused', async () => {
    expect(await codeOf(ingest(Array.from({ length: 21 }, () => text('x'))))).toBe('file.too_many');
  });
});
