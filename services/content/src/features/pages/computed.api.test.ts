import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { member, openSpace, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const params = { organizationId: 'o1' };
const source = {
  type: 'builtin:openapi',
  dependencies: { spec: { ref: { kind: 'openapi', spec: 'petstore' }, value: null } },
  props: { models: true },
};
let content: TestContent;

const create = async (computedSource: object) =>
  content.call('createSpace', admin, { params, body: { computedSource } });
const pagesOf = async (spaceId: string, query = {}) => content.call('listPages', admin, { params: { spaceId }, query });

beforeAll(async () => {
  content = await startContent({ openapi: { sweepMs: 20 } });
});
afterAll(() => content.stop());

test('a specification is looked up each time: null, then its latest version', async () => {
  const { status, body: space } = await create(source);
  expect(status).toBe(201);
  const before = await pagesOf(space.id);
  expect(before.body.pages).toEqual([
    {
      type: 'computed',
      id: expect.any(String),
      title: 'API reference',
      createdAt: space.createdAt,
      computed: source,
    },
  ]);
  const text = 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\n';
  await content.call('createOrUpdateOpenAPISpecBySlug', admin, {
    params: { ...params, specSlug: 'petstore' },
    body: { source: { text } },
  });
  await until('the specification is processed', async () => {
    const { body } = await content.call('getOpenAPISpecBySlug', admin, { params: { ...params, specSlug: 'petstore' } });
    return body.processingState === 'complete';
  });
  const after = await pagesOf(space.id);
  const spec = {
    ref: source.dependencies.spec.ref,
    value: expect.objectContaining({ object: 'openapi-spec', slug: 'petstore', lastVersion: expect.any(String) }),
  };
  expect(after.body.pages).toMatchObject([{ computed: { ...source, dependencies: { spec } } }]);
  expect(after.etag).not.toBe(before.etag);
  const revision = await content.call('getCurrentRevision', admin, { params: { spaceId: space.id } });
  expect(revision.body.pages).toEqual(after.body.pages);
  const pageId = after.body.pages[0]?.id ?? '';
  const page = await content.call('getPageById', admin, { params: { spaceId: space.id, pageId } });
  expect(page.body).toEqual(after.body.pages[0]);
  expect((await pagesOf(space.id, { computed: false })).body.pages).toEqual([]);
  const copy = await content.call('duplicateSpace', admin, { params: { spaceId: space.id } });
  expect((await pagesOf(copy.body.id)).body.pages).toMatchObject([
    { type: 'computed', computed: { dependencies: { spec } } },
  ]);
});

test('what others would provide is kept as given and not resolved', async () => {
  const ref = { kind: 'translation', translation: 't1' };
  const others = [
    { type: 'builtin:translation', dependencies: { translation: { ref } }, props: {} },
    {
      type: 'integration:acme:changelog',
      props: { 'a.b': [{ $c: null }] },
      dependencies: { in: { ref: { kind: 'space', space: 's' } } },
    },
  ];
  for (const other of others) {
    const { body } = await create(other);
    expect((await pagesOf(body.id)).body.pages).toMatchObject([{ type: 'computed', computed: other }]);
  }
});

test('sources of other shapes are refused, and spaces without one have no entry', async () => {
  const refused = [
    { ...source, type: 'builtin:nothing' },
    { ...source, props: {} },
    { ...source, props: { models: true, more: 1 } },
    { type: 'integration:acme:big', props: { text: 'x'.repeat(17_000) } },
  ];
  for (const it of refused) expect((await create(it)).status).toBe(400);
  const spaceId = await openSpace(content, admin);
  expect((await pagesOf(spaceId)).body.pages.some(({ type }) => type === 'computed')).toBe(false);
});
