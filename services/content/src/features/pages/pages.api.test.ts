import type { RevisionPage, RevisionPageDocument } from '@bindery/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { edit, member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const reader = member('read');
let content: TestContent;
let space: string;
const ids: Record<string, string> = {};

const insert = (title: string, markdown: string, more: object = {}) => ({
  operation: 'insert_page',
  title,
  document: { markdown },
  ...more,
});

beforeAll(async () => {
  content = await startContent();
  space = await openSpace(content, admin);
  await publish(content, admin, space, [
    insert('Guides', 'All guides: [start](./start.md#first-steps), [Bindery](https://example.org).', { ref: 'guides' }),
    insert('Start here', '## First steps\n\nBack to [the guides](./guides.md).', {
      ref: 'start',
      description: 'Begin.',
    }),
  ]);
  const { pages } = (await content.call('listPages', admin, { params: { spaceId: space } })).body;
  for (const page of pages) if (page.type === 'document') ids[page.slug] = page.id;
  await publish(content, admin, space, [
    { operation: 'update_page', page: ids['start-here'], into: ids.guides },
    insert('Ünïcode 図', 'Text with *marks* and `code`.', { into: ids['start-here'], emoji: '🦊', hidden: true }),
    { operation: 'update_page', page: ids.guides, document: { markdown: 'See [it](start-here.md).' } },
  ]);
});
afterAll(() => content.stop());

/** Pages of this file are all documents. */
const documentOf = (page: RevisionPage): RevisionPageDocument => {
  if (page.type !== 'document') throw new Error(`a ${page.type} page`);
  return page;
};
const page = async (pageId: string | undefined, query: object = {}, as = reader) => {
  const answer = await content.call('getPageById', as, {
    params: { spaceId: space, pageId: pageId ?? '' },
    query: { ...query },
  });
  return { ...answer, body: documentOf(answer.body) };
};
const below = (parent: RevisionPageDocument): readonly RevisionPageDocument[] => parent.pages.map(documentOf);
const byPath = (pagePath: string, query: object = {}) =>
  content.call('getPageByPath', reader, { params: { spaceId: space, pagePath }, query: { ...query } });

describe('pages', () => {
  test('have every field of the reference, and what is below them', async () => {
    const { body, status } = await page(ids.guides);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: ids.guides,
      type: 'document',
      kind: 'sheet',
      title: 'Guides',
      slug: 'guides',
      path: 'guides',
      tags: [],
      layout: { width: 'default', coverMask: 'none', anchors: true },
      urls: { app: `https://docs.example.org/app/spaces/${space}/pages/${ids.guides}` },
    });
    expect(below(body).map((child) => child.path)).toEqual(['guides/start-here']);
    expect(
      below(body)
        .flatMap(below)
        .map((child) => child.title),
    ).toEqual(['Ünïcode 図']);
    expect(below(body)[0]?.markdown).toBeUndefined();
  });

  test('come as markdown, as nodes when asked, by default as markdown', async () => {
    const markdown = await page(ids['start-here'], { format: 'markdown' });
    expect(markdown.body.markdown).toBe(
      '---\ndescription: Begin.\n---\n\n# Start here\n\n## First steps\n\nBack to [the guides](../README.md).\n',
    );
    expect((await page(ids['start-here'])).body).toEqual(markdown.body);
    const document = await page(ids['start-here'], { format: 'document' });
    expect(document.body.markdown).toBeUndefined();
    expect(document.body.document).toMatchObject({ object: 'document' });
    expect(JSON.stringify(document.body.document)).toContain(`"page":"${ids.guides}"`);
  });

  test('links lead from page to page, or by id', async () => {
    expect((await page(ids.guides)).body.markdown).toContain('[it](start-here/README.md)');
    const stable = await page(ids['start-here'], { 'format.markdown.refs': 'stable' });
    expect(stable.body.markdown).toContain(`[the guides](/pages/${ids.guides})`);
  });

  test('sent back in either form they change nothing', async () => {
    for (const refs of ['relative', 'stable']) {
      const before = (await page(ids['start-here'], { 'format.markdown.refs': refs })).body;
      const request = await edit(content, admin, space, [
        { operation: 'update_page', page: ids['start-here'], document: { markdown: before.markdown } },
      ]);
      const params = { spaceId: space, changeRequestId: request };
      const after = await content.call('getPageInChangeRequestById', admin, {
        params: { ...params, pageId: ids['start-here'] ?? '' },
        query: { 'format.markdown.refs': refs },
      });
      expect(documentOf(after.body).markdown).toBe(before.markdown);
      const { pages } = (await content.call('listPagesInChangeRequest', admin, { params })).body;
      expect(pages.length).toBeGreaterThan(0);
    }
  });

  test('are found by path, which was decoded already', async () => {
    for (const path of ['guides/start-here', 'guides/start-here/'])
      expect((await byPath(path)).body.id).toBe(ids['start-here']);
    const [deep] = below((await page(ids.guides)).body).flatMap(below);
    expect((await byPath(deep?.path ?? '')).body.id).toBe(deep?.id);
    const malformed = ['guides%2Fstart-here', 'guides//start-here', '/guides/start-here', 'guides/start-here//', ''];
    for (const path of ['nothing', 'guides/nothing', 'start-here', '__proto__', '..', ...malformed])
      expect((await byPath(path)).status).toBe(404);
  });

  test('of the space, of its revision and of a change request are the same where nothing changed', async () => {
    const current = await content.call('getCurrentRevision', reader, { params: { spaceId: space } });
    const revisionId = current.body.id;
    const params = { spaceId: space, revisionId };
    const byId = await content.call('getRevisionById', reader, { params });
    expect(byId.body).toEqual(current.body);
    expect(byId.etag).toBe(revisionId);
    const inSpace = await page(ids.guides);
    const inRevision = await content.call('getPageInRevisionById', reader, {
      params: { ...params, pageId: ids.guides ?? '' },
    });
    expect(inRevision.body).toEqual(inSpace.body);
    const path = await content.call('getPageInRevisionByPath', reader, { params: { ...params, pagePath: 'guides' } });
    expect(path.body).toEqual(inSpace.body);
    const listed = await content.call('listPagesInRevisionById', reader, { params });
    expect(listed.body.pages).toEqual(current.body.pages);
    const request = await edit(content, admin, space, [insert('Only here', 'Draft.')]);
    const branch = { spaceId: space, changeRequestId: request };
    const draft = await content.call('getPageInChangeRequestByPath', reader, {
      params: { ...branch, pagePath: 'only-here' },
    });
    expect(draft.body.title).toBe('Only here');
    expect((await byPath('only-here')).status).toBe(404);
    const branchRevision = await content.call('getRevisionOfChangeRequestById', reader, { params: branch });
    expect(branchRevision.body).toMatchObject({ type: 'edits', parents: [revisionId] });
  });

  test('a merge revision says where it came from', async () => {
    const { body } = await content.call('getCurrentRevision', reader, { params: { spaceId: space } });
    expect(body.type).toBe('merge');
    expect(body.mergedFrom).toMatchObject({ object: 'change-request', status: 'merged', revisionMerged: body.id });
  });

  test('documents can be read by themselves', async () => {
    const { body } = await page(ids['start-here'], { format: 'document' });
    const revisionId = (await content.call('getCurrentRevision', reader, { params: { spaceId: space } })).body.id;
    const own = await content.call('getPageDocumentInRevisionById', reader, {
      params: { spaceId: space, revisionId, pageId: ids['start-here'] ?? '' },
    });
    expect(own.body).toEqual(body.document);
    const documentId = body.documentId ?? '';
    const named = await content.call('getDocumentById', reader, { params: { spaceId: space, documentId } });
    expect(named.body).toEqual(body.document);
    const elsewhere = await openSpace(content, admin);
    const stolen = await content.call('getDocumentById', reader, { params: { spaceId: elsewhere, documentId } });
    expect(stolen.status).toBe(404);
  });

  test('of another space, another revision, another organization are not there', async () => {
    const elsewhere = await openSpace(content, admin);
    const pageId = ids.guides ?? '';
    const revisionId = (await content.call('getCurrentRevision', reader, { params: { spaceId: space } })).body.id;
    const statuses = await Promise.all([
      content.call('getPageById', reader, { params: { spaceId: elsewhere, pageId } }),
      content.call('getRevisionById', reader, { params: { spaceId: elsewhere, revisionId } }),
      content.call('getPageInRevisionById', reader, { params: { spaceId: elsewhere, revisionId, pageId } }),
      content.call('getPageById', member(undefined, 'stranger'), { params: { spaceId: space, pageId } }),
      content.call('getPageInChangeRequestById', reader, {
        params: { spaceId: space, changeRequestId: '999', pageId },
      }),
      content.call('getReusableContentById', reader, { params: { spaceId: space, reusableContentId: 'none' } }),
      content.call('getFileById', reader, { params: { spaceId: space, fileId: 'none' } }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404]);
  });
});
