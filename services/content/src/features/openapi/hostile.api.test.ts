import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import { manualClock, until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const of = (specSlug: string) => ({ organizationId: 'o1', specSlug });
const document = 'openapi: 3.0.3\ninfo: {title: T, version: "1"}\npaths: {}\n';
const mib = 1024 * 1024;
const bomb = gzipSync(Buffer.alloc(100 * mib), { level: 1 });

/** Spaces, as long as somebody reads. */
const endless = function* () {
  const chunk = Buffer.alloc(mib, 0x20);
  for (;;) yield chunk;
};

/** Answers of a server that means no good, by path; `slow` are never answered unless told to. */
const hostile = (slow: ServerResponse[]) => (request: IncomingMessage, response: ServerResponse) => {
  switch (request.url) {
    case '/large':
      Readable.from(endless()).pipe(response);
      return;
    case '/bomb':
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
      return;
    case '/around':
      response.writeHead(302, { location: '/around' }).end();
      return;
    case '/binary':
      response.end(Buffer.from([0xff, 0xfe, 0x80, 0x81]));
      return;
    case '/slow':
      slow.push(response);
      return;
    default:
      response.end(document);
  }
};

describe('OpenAPI specifications from servers and callers that mean no good', () => {
  const slow: ServerResponse[] = [];
  const clock = manualClock();
  let server: Server;
  let base = '';
  let content: TestContent;
  const options = {
    clock,
    fetchGuard: createGuardedFetch({ allow: ['127.0.0.1'] }),
    openapi: { sweepMs: 20, fetchTimeoutMs: 3000, leaseMs: 60_000 },
  };
  beforeAll(async () => {
    server = createServer(hostile(slow)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    content = await startContent(options);
  });
  afterAll(async () => {
    await content.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const put = (slug: string, source: object) =>
    content.call('createOrUpdateOpenAPISpecBySlug', admin, { params: of(slug), body: { source } });
  const get = async (slug: string) => (await content.call('getOpenAPISpecBySlug', admin, { params: of(slug) })).body;
  const done = async (slug: string) => {
    await until(`${slug} is processed`, async () => (await get(slug)).processingState === 'complete');
    return get(slug);
  };

  test.each([
    ['large', 'FETCH_ERROR', 'too-large'],
    ['bomb', 'FETCH_ERROR', 'too-large'],
    ['around', 'FETCH_ERROR', 'too-many-redirects'],
    ['binary', 'PARSE_ERROR', 'encoding'],
    ['slow', 'FETCH_TIMEOUT', 'timeout'],
  ])('/%s ends as %s', async (name, code, reason) => {
    expect((await put(name, { url: `${base}/${name}` })).status).toBe(201);
    expect(await done(name)).toMatchObject({
      lastProcessErrorCode: code,
      lastProcessedErrors: [{ code: reason }],
      lastProcessedErrorCount: 1,
    });
  });

  test('sources that are none are refused at once', async () => {
    for (const source of [
      { url: 'file:///etc/passwd' },
      { url: 'https://user:secret@example.org/' },
      { url: base, text: document },
      { text: '' },
      { text: '\ud800' },
      {},
    ])
      expect((await put('none', source)).status).toBe(400);
    for (const specSlug of ['-a', 'a--b', 'a.b', 'a'.repeat(101)])
      expect((await content.call('getOpenAPISpecBySlug', admin, { params: of(specSlug) })).status).toBe(400);
  });

  test('one deleted while its document is on the way stays deleted, and one made anew is another one', async () => {
    slow.length = 0;
    const first = await put('gone', { url: `${base}/slow` });
    await until('the document was asked for', () => slow.length === 1);
    const removed = await content.call('deleteOpenAPISpecBySlug', admin, { params: of('gone') });
    expect(removed.status).toBe(205);
    const second = await put('gone', { text: document });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    slow[0]?.end(document.replace('title: T', 'title: Late'));
    await done('gone');
    await content.settled();
    const { body } = await content.call('listOpenAPISpecVersions', admin, { params: of('gone') });
    expect(body.items).toHaveLength(1);
    const shown = await content.call('getLatestOpenAPISpecVersionContent', admin, { params: of('gone') });
    expect(shown.body.filesystem['gone.yaml']?.specification).toMatchObject({ info: { title: 'T' } });
  });

  test('work that a process left is taken up by another one, once its time is over', async () => {
    slow.length = 0;
    await put('left', { url: `${base}/slow` });
    await until('the document was asked for', () => slow.length === 1);
    content = await content.restarted();
    expect((await get('left')).processingState).toBe('progress');
    // Its time is over by this clock, which may be ahead of that of the other process.
    clock.advance(60_000);
    await put('meanwhile', { text: document });
    await done('meanwhile');
    expect(slow).toHaveLength(1);
    clock.advance(60_000);
    await until('the document was asked for again', () => slow.length === 2);
    slow[1]?.end(document);
    expect(await done('left')).toHaveProperty('lastVersion');
  });

  test('documents are served by signed addresses, and to all when public', async () => {
    await put('served', { text: document });
    await done('served');
    const version = await content.call('getLatestOpenAPISpecVersion', admin, { params: of('served') });
    const { pathname, search } = new URL(version.body.url);
    const route = content.service.rawRoutes.find(({ path }) => path.startsWith('/~openapi'));
    const files = createServer((request, response) => {
      void route?.handle(request, response);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => files.once('listening', resolve));
    const ask = (path: string) => fetch(`http://127.0.0.1:${(files.address() as AddressInfo).port}${path}`);
    try {
      const answer = await ask(`${pathname}${search}`);
      expect(answer.headers.get('content-security-policy')).toContain('sandbox');
      expect(await answer.text()).toBe(document);
      expect((await ask(pathname)).status).toBe(404);
      expect((await ask(`${pathname}?token=${'A'.repeat(22)}`)).status).toBe(404);
      expect((await get('served')).urls).not.toHaveProperty('published');
      const body = { visibility: 'public' };
      const opened = await content.call('updateOpenAPISpecBySlug', admin, { params: of('served'), body });
      const published = new URL(opened.body.urls.published ?? '').pathname;
      expect((await ask(published)).status).toBe(200);
      expect((await ask(pathname)).status).toBe(200);
      await content.call('deleteOpenAPISpecBySlug', admin, { params: of('served') });
      for (const path of [published, `${pathname}${search}`]) expect((await ask(path)).status).toBe(404);
    } finally {
      files.closeAllConnections();
      await new Promise((resolve) => files.close(resolve));
    }
  });
});
