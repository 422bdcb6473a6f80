import { createGuardedFetch } from '@bindery/guarded-fetch';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { edit, member, openSpace, startContent, type TestContent } from '../../testing.ts';
import { begin, ended, identity, markdownAt, startSite, type TestSite } from './testing.ts';

const admin = member('admin');
const editor = member('edit');
const reader = member('read');
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const page = (title: string, body: string, head = '') =>
  `<!doctype html><html><head><title>${title} | Site</title>${head}</head><body>
  <nav><a href="/docs/">Home</a><a href="/docs/guide/start">Start</a><a href="/docs/guide/more.html">More</a><a href="/blog">Blog</a></nav>
  <main><h1>${title}</h1>${body}</main><footer>Footer</footer></body></html>`;

describe('imports of websites', () => {
  let content: TestContent;
  let site: TestSite;
  const pages: Parameters<typeof startSite>[0] = {
    '/docs/': page(
      'Welcome',
      '<p>Hello. See <a href="guide/start#first-step">start</a> and <a href="/blog">blog</a>.</p>',
    ),
    '/docs/guide/start': page(
      'Start',
      '<h2 id="first-step">The first step</h2><p>Go <a href="more.html">on</a>.</p><img src="/img/p.png" alt="Dot"><img src="/img/none.png"><script>alert(1)</script><p><a href="javascript:alert(1)">bad</a></p>',
    ),
    '/docs/guide/more.html': page(
      'More',
      '<p>More, <a href="/docs/index.html?utm_source=x">home</a>, <a href="/docs/private/x">x</a>, <a href="/docs/gone">gone</a>, <a href="/docs/copy">copy</a>.</p>',
    ),
    '/docs/copy': page('Copy', '<p>The same.</p>', '<link rel="canonical" href="/docs/guide/start">'),
    '/docs/private/x': page('Private', '<p>No.</p>'),
    '/blog': page('Blog', '<p>Outside.</p>'),
    '/robots.txt': (_request, response) => response.end('User-agent: *\nDisallow: /docs/private/\n'),
    '/img/p.png': (_request, response) => response.setHeader('content-type', 'image/png').end(pixel),
    '/away/': (_request, response) => response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end(),
    '/named/': (_request, response) => response.writeHead(302, { location: 'http://inside.example/' }).end(),
    '/huge/': (_request, response) => response.setHeader('content-type', 'text/html').end('x'.repeat(2_100_000)),
    '/deep/': '<div>'.repeat(50_000),
    '/pdf/': (_request, response) => response.setHeader('content-type', 'application/pdf').end('%PDF-1.4'),
    '/broken/': '<html><body><main><h1>Broken</h1><p>One <b>two<p>three</i><table><tr><td>a<td>b<ul><li>x',
  };
  beforeAll(async () => {
    site = await startSite(pages);
    const resolve = async () => ['127.0.0.1'];
    content = await startContent({
      services: identity(),
      fetchGuard: createGuardedFetch({
        allow: [new URL(site.url).hostname],
        resolve: async (host) => (host === 'inside.example' ? ['10.0.0.7'] : resolve()),
      }),
      imports: { sweepMs: 50 },
    });
  });
  afterAll(async () => {
    await content.stop();
    await site.stop();
  });
  const from = (path: string) => ({ type: 'website', url: `${site.url}${path}` });

  test('pages, hierarchy, links, pictures; what does not come along is told', async () => {
    const spaceId = await openSpace(content, admin);
    const id = await begin(content, admin, { source: from('/docs/'), target: { space: spaceId } });
    const run = await ended(content, admin, id);
    expect(run).toMatchObject({ status: 'completed', target: { space: spaceId, changeRequest: expect.any(String) } });
    expect(run.reason).toMatch(/private\/x: the website asks robots not to read it/);
    expect(run.reason).toMatch(/gone: The URL answered with status 404/);
    expect(run.reason).toMatch(/none\.png: /);
    const { body: revision } = await content.call('getCurrentRevision', admin, { params: { spaceId } });
    expect(revision.pages).toMatchObject([
      { title: 'Welcome' },
      { title: 'Guide', pages: [{ title: 'Start' }, { title: 'More' }] },
    ]);
    expect(
      run.pages
        ?.filter(({ status }) => status === 'complete')
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['folder', 'page', 'page', 'page']);
    expect(run.pages?.find(({ status }) => status === 'pending')?.sourceURL).toBe(`${site.url}/docs/gone`);
    const home = await markdownAt(content, admin, spaceId, 'docs');
    expect(home).toContain('guide/start.md#the-first-step');
    expect(home).toContain(`${site.url}/blog`);
    const start = await markdownAt(content, admin, spaceId, 'guide/start');
    expect(start).not.toMatch(/alert|Footer|javascript/);
    expect(revision.files).toMatchObject([{ name: 'p.png', contentType: 'image/png' }]);
    const { body: space } = await content.call('getSpaceById', admin, { params: { spaceId } });
    expect(space.imports).toMatchObject([{ id, status: 'completed' }]);
    expect(site.asked).not.toContain('/docs/private/x');
  });

  test('into a change request, below a page, by an editor', async () => {
    const spaceId = await openSpace(content, admin);
    const inserted = { operation: 'insert_page', title: 'Below', document: { markdown: 'Text' } };
    const changeRequestId = await edit(content, editor, spaceId, [inserted]);
    const params = { spaceId, changeRequestId };
    const tree = await content.call('getRevisionOfChangeRequestById', editor, { params });
    const below = tree.body.pages[0]?.id ?? '';
    const target = { space: spaceId, changeRequest: '1', page: below };
    const id = await begin(content, editor, { source: from('/docs/guide/'), target });
    expect(await ended(content, editor, id)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('404'),
    });
    const again = await begin(content, editor, { source: from('/docs/guide/start'), target });
    const run = await ended(content, editor, again);
    expect(run).toMatchObject({ status: 'completed', target: { ...target, changeRequest: changeRequestId } });
    const after = await content.call('getRevisionOfChangeRequestById', editor, { params });
    expect(after.body.pages).toMatchObject([{ id: below, pages: [{ title: 'Start' }] }]);
    const { body } = await content.call('getChangeRequestById', editor, { params });
    expect(body.imports?.map((it) => it.id)).toEqual([again, id]);
    const refused = { source: from('/docs/'), target: { space: spaceId } };
    const start = (as: typeof admin, sent: object) =>
      content.call('startImportRun', as, { params: { organizationId: 'o1' }, body: sent });
    expect((await start(editor, refused)).status).toBe(403);
    expect((await start(reader, refused)).status).toBe(403);
    expect((await start(member(undefined, 'stranger'), refused)).status).toBe(404);
    expect((await start(admin, { ...refused, target: { space: 'none' } })).status).toBe(404);
    expect((await start(admin, { ...refused, source: { type: 'website', url: 'ftp://x.example/' } })).status).toBe(400);
    expect((await start(admin, { ...refused, source: { type: 'file', files: ['none'] } })).status).toBe(400);
  });

  test('lists by space, change request and status, for those who may view the space', async () => {
    const spaceId = await openSpace(content, admin, {});
    await content.call('updateSpaceById', admin, { params: { spaceId }, body: { defaultLevel: null } });
    const id = await begin(content, admin, { source: from('/docs/'), target: { space: spaceId }, site: 's1' });
    await ended(content, admin, id);
    const list = async (as: typeof admin, query: object) =>
      (await content.call('listImportRuns', as, { params: { organizationId: 'o1' }, query: { ...query } })).body;
    expect((await list(admin, { space: spaceId })).items.map((it) => it.id)).toEqual([id]);
    expect((await list(admin, { site: 's1', status: 'completed' })).items).toHaveLength(1);
    expect((await list(admin, { space: spaceId, status: 'active' })).items).toEqual([]);
    expect((await list(reader, { space: spaceId })).items).toEqual([]);
    const params = { organizationId: 'o1', importRunId: id };
    expect((await content.call('getImportRun', reader, { params })).status).toBe(404);
    const first = await list(admin, { limit: 1 });
    expect(first.items.map((it) => it.id)).toEqual([id]);
    const second = await list(admin, { limit: 1, page: first.next?.page });
    expect(second.items[0]?.id).not.toBe(id);
    expect((await content.call('cancelImportRun', admin, { params })).status).toBe(400);
    expect((await content.call('getImportRun', admin, { params: { ...params, importRunId: 'none' } })).status).toBe(
      404,
    );
  });

  test.each([
    ['/away/', /is not public/],
    ['/named/', /is not public/],
    ['/huge/', /larger than/],
    ['/deep/', /nested too deeply/],
    ['/pdf/', /application\/pdf/],
    ['/missing/', /404/],
  ])('%s comes to nothing, and says why', async (path, reason) => {
    const spaceId = await openSpace(content, admin);
    const run = await ended(
      content,
      admin,
      await begin(content, admin, { source: from(path), target: { space: spaceId } }),
    );
    expect(run).toMatchObject({ status: 'failed', reason: expect.stringMatching(reason) });
    const { body } = await content.call('getCurrentRevision', admin, { params: { spaceId } });
    expect(body.pages).toEqual([]);
  });

  test('broken markup is read as browsers do', async () => {
    const spaceId = await openSpace(content, admin);
    await ended(content, admin, await begin(content, admin, { source: from('/broken/'), target: { space: spaceId } }));
    expect(await markdownAt(content, admin, spaceId, 'broken')).toMatch(/two[\s\S]*three/);
  });

  test('cancelled at once, and nothing of it comes into the content', async () => {
    let release = (): void => undefined;
    pages['/slow/'] = page('Slow', '<a href="/slow/b">b</a>');
    pages['/slow/b'] = (_request, response) => {
      release = () => response.end('late');
    };
    const spaceId = await openSpace(content, admin);
    const id = await begin(content, admin, { source: from('/slow/'), target: { space: spaceId } });
    const params = { organizationId: 'o1', importRunId: id };
    while (!site.asked.includes('/slow/b')) await new Promise((resolve) => setImmediate(resolve));
    const running = await content.call('getImportRun', admin, { params });
    expect(running.body).toMatchObject({
      status: 'in-progress',
      pages: [{ status: 'complete' }, { status: 'pending' }],
    });
    expect((await content.call('cancelImportRun', reader, { params })).status).toBe(403);
    expect((await content.call('cancelImportRun', admin, { params })).body.status).toBe('cancelled');
    expect((await content.call('cancelImportRun', admin, { params })).status).toBe(200);
    release();
    const { body } = await content.call('getCurrentRevision', admin, { params: { spaceId } });
    expect(body.pages).toEqual([]);
  });

  test('a process that ends leaves it to the next one, which goes on where it was', async () => {
    let release = (): void => undefined;
    pages['/left/'] = page('Left', '<a href="/left/b">b</a>');
    pages['/left/b'] = (_request, response) => {
      release = () => response.end();
    };
    const spaceId = await openSpace(content, admin);
    const id = await begin(content, admin, { source: from('/left/'), target: { space: spaceId } });
    while (!site.asked.includes('/left/b')) await new Promise((resolve) => setImmediate(resolve));
    pages['/left/b'] = page('Second', '<p>After the restart.</p>');
    const before = site.asked.filter((path) => path === '/left/').length;
    content = await content.restarted();
    release();
    expect(await ended(content, admin, id)).toMatchObject({ status: 'completed' });
    expect(site.asked.filter((path) => path === '/left/')).toHaveLength(before);
    expect(await markdownAt(content, admin, spaceId, 'b')).toContain('After the restart.');
  });
});
