import type { MergeRules } from '@bindery/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, openSpace, startContent, type TestContent } from '../../testing.ts';
import { templates } from './index.ts';

const admin = member('admin');
const editor = member('edit');
const reader = member('read');
let content: TestContent;
let rules: MergeRules = { type: 'none' };

const pagesOf = async (spaceId: string) => (await content.call('listPages', admin, { params: { spaceId } })).body.pages;
const titles = (pages: readonly object[]): readonly unknown[] =>
  pages.map((page) => {
    const { title, pages: below = [] } = page as { title: string; pages?: readonly object[] };
    return below.length === 0 ? title : [title, ...titles(below)];
  });
const apply = (spaceId: string, body: object, as = admin) =>
  content.call('applyTemplateToSpace', as, { params: { spaceId }, body });
const create = (body: object) => content.call('createSpace', admin, { params: { organizationId: 'o1' }, body });

beforeAll(async () => {
  content = await startContent({ mergeRules: () => rules });
});
afterAll(() => content.stop());

describe('templates', () => {
  test.each(templates.map(({ id }) => id))(
    '%s: a new space has its pages, and every link within leads somewhere',
    async (id) => {
      const created = await create({ template: { id } });
      expect(created.status).toBe(201);
      const template = templates.find((it) => it.id === id);
      const { total, broken } = (await content.call('listSpaceLinks', admin, { params: { spaceId: created.body.id } }))
        .body.stats;
      expect(broken.total).toBe(0);
      expect(total).toBeGreaterThan(1);
      const flat = titles(await pagesOf(created.body.id)).flat(9);
      expect([...flat].sort()).toEqual(template?.pages.map(({ title }) => title).sort());
    },
  );

  test('named links lead where the caller says', async () => {
    const other = await openSpace(content, admin, { title: 'Other' });
    const contentRefs = {
      chat: { kind: 'space', space: other },
      calendar: { kind: 'url', url: 'https://example.org/a b)[x](https://evil.example)' },
    };
    const { body } = await create({ template: { id: 'handbook', params: { contentRefs } } });
    const { items } = (await content.call('listSpaceLinks', admin, { params: { spaceId: body.id } })).body;
    const outside = items.flatMap(({ targetReference: it }) =>
      it?.kind === 'url' ? [it.url] : it?.kind === 'space' ? [it.space.id] : [],
    );
    expect(outside.sort()).toEqual([other, 'https://example.org/a%20b%29%5Bx%5D%28https://evil.example%29'].sort());
  });

  test('onto a space that has content: at once, twice if asked twice, beside what is there', async () => {
    const spaceId = (await create({})).body.id;
    const applied = await apply(spaceId, { id: 'release-notes' });
    expect([applied.status, applied.body]).toEqual([201, undefined]);
    expect((await apply(spaceId, { id: 'release-notes' })).status).toBe(201);
    const pages = await pagesOf(spaceId);
    expect(titles(pages)).toEqual(['Untitled', ['Release notes', 'Versions'], ['Release notes', 'Versions']]);
    expect(new Set(pages.map((page) => ('slug' in page ? page.slug : ''))).size).toBe(3);
  });

  test('into a change request, and with a new one', async () => {
    const spaceId = await openSpace(content, admin);
    const opened = await content.call('createChangeRequest', editor, {
      params: { spaceId },
      body: { subject: 'Begin', template: { id: 'handbook' } },
    });
    expect(opened.status).toBe(201);
    const params = { spaceId, changeRequestId: opened.body.id };
    const listed = async () => titles((await content.call('listPagesInChangeRequest', editor, { params })).body.pages);
    expect(await listed()).toHaveLength(3);
    expect((await apply(spaceId, { id: 'release-notes', changeRequestId: opened.body.id }, editor)).status).toBe(201);
    expect(await listed()).toHaveLength(4);
    expect(await pagesOf(spaceId)).toEqual([]);
    const { revision } = (await content.call('getChangeRequestById', editor, { params })).body;
    expect(revision).not.toBe(opened.body.revisionInitial);
  });

  test('what cannot be done is refused and leaves nothing', async () => {
    const spaceId = await openSpace(content, admin);
    const refusals = [
      await apply(spaceId, { id: 'no-such' }),
      await apply(spaceId, { id: 'constructor' }),
      await apply(spaceId, {
        id: 'handbook',
        params: { contentRefs: { nowhere: { kind: 'url', url: 'https://a.b' } } },
      }),
      await apply(spaceId, { id: 'handbook', changeRequestId: 'nope' }),
      await apply(spaceId, { id: 'handbook' }, reader),
      await apply(spaceId, { id: 'handbook' }, editor),
      await apply(spaceId, { id: 'handbook' }, member(undefined)),
      await create({ template: { id: 'no-such' } }),
      await create({ template: { id: 'handbook' }, empty: true }),
      await create({ computedSource: { type: 'builtin:openapi' } }),
      await create({
        computedSource: {
          type: 'builtin:translation',
          dependencies: { translation: { ref: { kind: 'translation', translation: 't' } } },
          props: {},
        },
        empty: true,
      }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 400, 404, 403, 403, 404, 400, 400, 400, 400]);
    expect((await content.call('getSpaceById', admin, { params: { spaceId } })).body.changeRequests).toBe(0);
  });

  test('merge rules hold; what they refuse is archived', async () => {
    const spaceId = await openSpace(content, admin);
    rules = { type: 'rules', rules: [{ rule: 'require_at_least_one_approved_review' }] };
    const refused = await apply(spaceId, { id: 'handbook' });
    rules = { type: 'none' };
    expect(refused.status).toBe(409);
    expect(await pagesOf(spaceId)).toEqual([]);
    const params = { spaceId, changeRequestId: '1' };
    expect((await content.call('getChangeRequestById', admin, { params })).body.status).toBe('archived');
  });
});
