import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore } from '@bindery/blob-store';
import { openFilesystemBlobStore } from '@bindery/blob-store/filesystem';
import { noopTelemetry } from '@bindery/telemetry';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { FileNode } from '../revisions/index.ts';
import { createFileDownloads } from './downloads.ts';
import { createFileLinks } from './links.ts';

const secret = 'a secret of sixteen or more';
const links = createFileLinks(secret);
let folder: string;
let blobs: BlobStore;
let server: Server;
let base: string;
let spaceThere = true;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bindery-downloads-'));
  blobs = await openFilesystemBlobStore({ folder });
  const route = createFileDownloads({
    links,
    blobs,
    spaceExists: async () => spaceThere,
    logger: noopTelemetry().logger,
  });
  server = createServer((request, response) => void route.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await blobs.close();
  await rm(folder, { recursive: true, force: true });
});

const stored = async (content: string, name: string, contentType: string): Promise<string> => {
  const { sha256, size } = await blobs.put(Buffer.from(content), 1000);
  const file: FileNode = { id: 'f1', name, contentType, size, sha256 };
  return links.represent(base, 's1', file).downloadURL;
};

describe('downloads', () => {
  test('the address gives the bytes, cacheable for ever, with nothing that runs', async () => {
    const url = await stored('hello', 'grüße "a".txt', 'text/plain');
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('hello');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-security-policy')).toContain('sandbox');
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(response.headers.get('content-disposition')).toContain("filename*=UTF-8''gr%C3%BC%C3%9Fe%20%22a%22.txt");
  });

  test.each([
    ['text/html', '<script>alert(1)</script>', 'attachment'],
    ['image/svg+xml', '<svg/>', 'attachment'],
    ['application/xhtml+xml', '<html/>', 'attachment'],
    ['application/pdf', '%PDF', 'attachment'],
    ['image/png', 'png', 'inline'],
    ['video/mp4', 'mp4', 'inline'],
  ])('%s comes as %3$s', async (contentType, content, disposition) => {
    const response = await fetch(await stored(content, 'f', contentType));
    expect(response.headers.get('content-disposition')).toContain(disposition);
    await response.arrayBuffer();
  });

  test('addresses are the same every time and in every process, and differ by content', async () => {
    const url = await stored('hello', 'a.txt', 'text/plain');
    expect(await stored('hello', 'a.txt', 'text/plain')).toBe(url);
    expect(await stored('other', 'a.txt', 'text/plain')).not.toBe(url);
    expect(createFileLinks(secret).read(url.slice(base.length))).toMatchObject({ spaceId: 's1', fileId: 'f1' });
    expect(createFileLinks('another secret, as long').read(url.slice(base.length))).toBeUndefined();
  });

  test('nobody makes an address: every part is signed', async () => {
    const url = await stored('hello', 'a.txt', 'text/plain');
    const [path = '', token = ''] = url.split('?token=');
    const forged = [
      path,
      `${path}?token=`,
      `${path}?token=${token.slice(0, -1)}`,
      `${path}?token=${token}&x=1`,
      url.replace('/s1/', '/s2/'),
      url.replace('/f1/', '/f2/'),
      url.replace('/a.txt', '/a.html'),
      `${path}?token=${token.split('.')[0]}.${Buffer.from('text/html').toString('base64url')}`,
      `${path}?token=${'A'.repeat(64)}.${token.split('.')[1]}`,
      url.replace('a.txt', '%ff'),
      url.replace('a.txt', `${'a'.repeat(5000)}`),
    ];
    for (const address of forged) {
      const response = await fetch(address);
      expect({ address, status: response.status }).toEqual({ address, status: 404 });
      expect(await response.json()).toEqual({ error: { code: 404, message: 'No such file.' } });
    }
  });

  test('a space that is gone ends its addresses', async () => {
    const url = await stored('hello', 'a.txt', 'text/plain');
    spaceThere = false;
    try {
      expect((await fetch(url)).status).toBe(404);
    } finally {
      spaceThere = true;
    }
  });

  test('ranges, conditions and HEAD', async () => {
    const url = await stored('0123456789', 'a.txt', 'text/plain');
    const get = async (headers: Record<string, string>, method = 'GET') => {
      const response = await fetch(url, { method, headers });
      return [response.status, await response.text(), response.headers.get('content-range')] as const;
    };
    expect(await get({ range: 'bytes=2-4' })).toEqual([206, '234', 'bytes 2-4/10']);
    expect(await get({ range: 'bytes=7-' })).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await get({ range: 'bytes=-3' })).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await get({ range: 'bytes=8-99' })).toEqual([206, '89', 'bytes 8-9/10']);
    expect((await get({ range: 'bytes=10-' }))[0]).toBe(416);
    expect((await get({ range: 'bytes=-0' }))[0]).toBe(416);
    expect((await get({ range: 'bytes=4-2' }))[0]).toBe(200);
    expect((await get({ range: 'pages=1-2' }))[0]).toBe(200);
    expect((await get({ range: 'bytes=0-1', 'if-range': '"other"' }))[0]).toBe(200);
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    expect((await get({ 'if-none-match': etag }))[0]).toBe(304);
    expect(await get({}, 'HEAD')).toEqual([200, '', null]);
  });
});
