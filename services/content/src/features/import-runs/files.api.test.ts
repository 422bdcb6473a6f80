import { createServer, type Server } from 'node:http';
import { isProblem } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { baseUrl, member, openSpace, startContent, type TestContent } from '../../testing.ts';
import { begin, ended, identity, markdownAt } from './testing.ts';

const admin = member('admin');
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const zip = (files: Record<string, string | Uint8Array>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    zipSync(
      Object.fromEntries(Object.entries(files).map(([name, it]) => [name, typeof it === 'string' ? strToU8(it) : it])),
    ),
  );

describe('imports of files', () => {
  let content: TestContent;
  let gateway: Server;
  let port = 0;
  beforeAll(async () => {
    content = await startContent({ services: identity(), imports: { sweepMs: 50 } });
    gateway = createServer((request, response) => {
      const route = content.service.rawRoutes.find(({ method }) => method === 'PUT');
      route?.handle(request, response).catch((error: unknown) => {
        response.writeHead(isProblem(error) ? 400 : 500).end(String(error));
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => gateway.once('listening', resolve));
    const address = gateway.address();
    port = typeof address === 'object' && address ? address.port : 0;
  });
  afterAll(async () => {
    gateway.closeAllConnections();
    await new Promise((resolve) => gateway.close(resolve));
    await content.stop();
  });

  const upload = async (name: string, type: string, body: string | Uint8Array<ArrayBuffer>): Promise<string> => {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    const file = { name, type, size: bytes.length };
    const sent = { params: { organizationId: 'o1' }, body: { file, kind: 'import_file' } };
    const { url, key } = (await content.call('generateStorageUploadURL', admin, sent)).body;
    const put = await fetch(url.replace(baseUrl, `http://127.0.0.1:${port}`), { method: 'PUT', body: bytes });
    expect([put.status, await put.text()]).toEqual([204, '']);
    return key;
  };
  const imported = async (...files: string[]) => {
    const spaceId = await openSpace(content, admin);
    const id = await begin(content, admin, { source: { type: 'file', files }, target: { space: spaceId } });
    const run = await ended(content, admin, id);
    const { body } = await content.call('getCurrentRevision', admin, { params: { spaceId } });
    return { spaceId, run, pages: body.pages, files: body.files };
  };

  test('an archive with a table of contents: order, links, pictures', async () => {
    const key = await upload(
      'docs.zip',
      'application/zip',
      zip({
        'docs/SUMMARY.md': '# Summary\n\n* [Home](README.md)\n* [Second](b.md)\n  * [First](deep/a.html)\n',
        'docs/README.md': '---\ndescription: About\n---\n\n# Home\n\nTo [a](deep/a.html#part) and ![p](img/p.png).\n',
        'docs/b.md': '# B\n\nBack [home](README.md).\n',
        'docs/deep/a.html':
          '<h1>A</h1><p>See <a href="../b.md">b</a> and <a href="gone.md">gone</a>.</p><h2 id="part">The part</h2>',
        'docs/img/p.png': pixel,
        'docs/img/unused.png': pixel,
        '__MACOSX/docs/._b.md': 'no',
      }),
    );
    const { spaceId, run, pages, files } = await imported(key);
    expect(run).toMatchObject({ status: 'completed' });
    expect(run).not.toHaveProperty('reason');
    expect(pages).toMatchObject([
      { title: 'Home', description: 'About' },
      { title: 'B', pages: [{ title: 'A' }] },
    ]);
    expect(files).toMatchObject([{ name: 'p.png' }]);
    const home = await markdownAt(content, admin, spaceId, pages[0] && 'path' in pages[0] ? pages[0].path : '');
    expect(home).toContain('b/a.md#the-part');
    expect(await markdownAt(content, admin, spaceId, 'b/a')).not.toContain('files.invalid');
  });

  test('single files of every kind; what cannot be read is told', async () => {
    const keys = [
      await upload('one.md', 'text/markdown', '# One\n\nText.\n'),
      await upload('two.html', 'text/html', '<h1>Two</h1><p>Text</p>'),
      await upload('three.txt', 'text/plain', 'Plain ``` text\n'),
      await upload('four.md', 'application/octet-stream', new Uint8Array([35, 32, 255, 254, 10])),
      await upload('five.zip', 'application/zip', zip({ 'x/y.md': '# Y\n', 'x/z.md': '# Z\n' })),
    ];
    const { run, pages } = await imported(...keys);
    expect(pages.map(({ title }) => title).sort()).toEqual(['five', 'One', 'Two', 'three'].sort());
    expect(run).toMatchObject({
      status: 'completed',
      reason: expect.stringContaining('four.md: it is not UTF-8 text'),
    });
  });

  test('files that are too large, and archives that are cut off', async () => {
    const one = zip({ 'large.md': new Uint8Array(2_100_000), 'small.md': '# Small\n' });
    const large = await imported(await upload('large.zip', 'application/zip', one));
    expect(large.run).toMatchObject({
      status: 'completed',
      reason: expect.stringContaining('large.md: it has more than'),
    });
    const whole = zip({ 'a.md': 'A'.repeat(100), 'b.md': '# B\n' });
    const cut = await imported(await upload('cut.zip', 'application/zip', whole.slice(0, 36)));
    expect(cut.run.status).toBe('failed');
  });

  // Five hundred pages are written one by one.
  const long = process.env.LONG_TESTS ? test : test.skip;
  long(
    process.env.LONG_TESTS ? 'at most 500 pages' : 'SKIPPED: 500 pages take a while (LONG_TESTS is not set)',
    async () => {
      const files = Array.from({ length: 510 }, (_, at) => [`${String(at).padStart(3, '0')}.md`, '# P\n'] as const);
      const most = await imported(await upload('many.zip', 'application/zip', zip(Object.fromEntries(files))));
      expect(most.run).toMatchObject({ status: 'completed', reason: expect.stringContaining('at most 500 pages') });
    },
  );
});
