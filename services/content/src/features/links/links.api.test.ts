import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  baseUrl,
  edit,
  identityOf,
  member,
  openSpace,
  publish,
  startContent,
  type TestContent,
} from '../../testing.ts';

const admin = member('admin');
const reader = member('read');
const missing = 'abcdefghijklmnopqrstuvwx';
let content: TestContent;
let space: string;
let other: string;
let secret: string;
const pages: Record<string, string> = {};
let file: string;

const page = (title: string, markdown: string, more: object = {}) => ({
  operation: 'insert_page',
  title,
  document: { markdown },
  ...more,
});
const idsOf = async (spaceId: string): Promise<Record<string, string>> => {
  const { body } = await content.call('listPages', admin, { params: { spaceId } });
  return Object.fromEntries(body.pages.map(({ title, id }) => [title, id]));
};
const links = (query: object = {}, spaceId = space, as = admin) =>
  content.call('listSpaceLinks', as, { params: { spaceId }, query: { ...query } });
const ofPage = (title: string, query: object = {}, as = admin) =>
  content.call('listPageLinksInSpace', as, {
    params: { spaceId: space, pageId: pages[title] ?? '' },
    query: { ...query },
  });
const backlinks = (spaceId: string, pageId = '', query: object = {}, as = admin) =>
  content.call('listSpacePageBacklinks', as, { params: { spaceId, pageId }, query: { ...query } });

type Item = Awaited<ReturnType<typeof links>>['body']['items'][number];
/** An item in few words. */
const said = ({ status, targetReference: target, locationReferences }: Item): string => {
  const where = locationReferences.map((it) => (it.kind === 'page' ? it.page.title : it.kind)).join('+');
  const what = (): string => {
    if (target === undefined) return 'nothing';
    switch (target.kind) {
      case 'page':
        return target.internalLocation?.type === 'anchor'
          ? `${target.page.title}#${target.internalLocation.anchor}`
          : target.page.title;
      case 'file':
        return target.file.name;
      case 'url':
        return target.url;
      case 'user':
        return `@${String(Object(target.user).id)}`;
      case 'space':
        return target.space.title;
      default:
        return target.kind;
    }
  };
  return `${where} -> ${what()} ${status}`;
};
const saidOf = async (query: object = {}, spaceId = space, as = admin): Promise<readonly string[]> =>
  (await links(query, spaceId, as)).body.items.map(said).sort();

beforeAll(async () => {
  const services = identityOf({ o1: { 'user-read': { role: 'read', teams: [] } } }, []);
  content = await startContent({ services });
  other = await openSpace(content, admin, { title: 'Other' });
  await publish(content, admin, other, [page('There', '## Part\n\nText.')]);
  secret = await openSpace(content, admin, { title: 'Secret' });
  await publish(content, admin, secret, [page('Hidden', 'Text.')]);
  await content.call('updateSpaceById', admin, { params: { spaceId: secret }, body: { defaultLevel: null } });
  const { There = '' } = await idsOf(other);
  const { Hidden = '' } = await idsOf(secret);
  pages.There = There;
  pages.Hidden = Hidden;
  space = await openSpace(content, admin, { title: 'Guide' });
  await publish(content, admin, space, [
    {
      operation: 'insert_files',
      files: [{ name: 'a.txt', contentType: 'text/plain', base64: Buffer.from('hello').toString('base64'), ref: 'a' }],
    },
    page('Start', '## Begin\n\nSee [two](./two.md), [part](./two.md#deep), [no part](./two.md#none), [top](#begin).', {
      ref: 'start',
    }),
    page('Two', '## Deep\n\n[start](./start.md)\n\n{% file src="a" %}', { ref: 'two' }),
    page(
      'Out',
      [
        `[there](${baseUrl}/app/spaces/${other}/pages/${There}#part)`,
        `[hidden](${baseUrl}/app/spaces/${secret}/pages/${Hidden})`,
        `[space](${baseUrl}/app/spaces/${other}) [gone](/pages/${missing})`,
        `[web](https://example.com/x) [app](${baseUrl}/app/settings) [fake](${baseUrl}.evil.com/)`,
        `[@r](${baseUrl}/app/users/user-read) [@x](${baseUrl}/app/users/user-gone)`,
      ].join('\n\n'),
      { ref: 'out' },
    ),
  ]);
  Object.assign(pages, await idsOf(space));
  const { body } = await content.call('listFiles', admin, { params: { spaceId: space } });
  file = body.items[0]?.id ?? '';
});
afterAll(() => content.stop());

const all = [
  'Out -> @user-read ok',
  'Out -> Hidden ok',
  'Out -> Other ok',
  'Out -> There#part ok',
  'Out -> https://docs.example.org.evil.com/ ok',
  'Out -> https://docs.example.org/app/settings in-app',
  'Out -> https://example.com/x ok',
  'Out -> nothing broken',
  'Out -> nothing broken',
  'Start -> Start#begin ok',
  'Start -> Two ok',
  'Start -> Two#deep ok',
  'Start -> nothing broken',
  'Two -> Start ok',
  'Two -> a.txt ok',
];

describe('links', () => {
  test('of a space: one item per target, with stats', async () => {
    const { body } = await links();
    expect(body.items.map(said).sort()).toEqual(all);
    expect(body.stats).toEqual({ total: 15, broken: { total: 3 } });
    expect(body.count).toBe(15);
  });

  test('by status, and page by page: nothing lost, nothing twice', async () => {
    for (const status of ['ok', 'broken', 'in-app', undefined]) {
      const wanted = all.filter((it) => status === undefined || it.endsWith(` ${status}`));
      const found: string[] = [];
      for (let next: string | undefined, turns = 0; turns < 20; turns += 1) {
        const { body } = await links({ limit: 2, ...(status ? { status } : {}), ...(next ? { page: next } : {}) });
        found.push(...body.items.map(said));
        next = body.next?.page;
        if (next === undefined) break;
      }
      expect(found.sort()).toEqual(wanted);
    }
  });

  test('what the caller may not view is broken to it, and in no list of its own', async () => {
    expect(await saidOf({}, space, reader)).toEqual(
      all.map((it) => (it === 'Out -> Hidden ok' ? 'Out -> nothing broken' : it)).sort(),
    );
    expect((await links({}, secret, reader)).status).toBe(404);
    expect((await backlinks(secret, pages.Hidden, {}, reader)).status).toBe(404);
    expect((await backlinks(secret, pages.Hidden)).body.items).toHaveLength(1);
  });

  test('of a page, with the block that has them', async () => {
    const { body } = await ofPage('Two');
    expect(body.items.map(said).sort()).toEqual(['Two -> Start ok', 'Two -> a.txt ok']);
    expect(body.stats).toEqual({ total: 2, broken: { total: 0 } });
    const [location] = body.items[0]?.locationReferences ?? [];
    expect(location).toMatchObject({ kind: 'page', internalLocation: { type: 'node' } });
    expect((await ofPage('Out', { status: 'in-app' })).body.items).toHaveLength(1);
    expect((await ofPage('Nowhere')).status).toBe(400);
    const params = { spaceId: space, pageId: missing };
    expect((await content.call('listPageLinksInSpace', admin, { params })).status).toBe(404);
  });

  test('backlinks of a page, also from other spaces, and of a file', async () => {
    const titles = async (spaceId: string, id = '') =>
      (await backlinks(spaceId, id)).body.items.map((it) => it.kind === 'page' && it.page.title);
    expect(await titles(space, pages.Two)).toEqual(['Start']);
    expect(await titles(space, pages.Start)).toEqual(['Two']);
    expect(await titles(other, pages.There)).toEqual(['Out']);
    const params = { spaceId: space, fileId: file };
    const found = await content.call('listSpaceFileBacklinks', admin, { params });
    expect(found.body.items).toHaveLength(1);
    const bad = await content.call('listSpaceFileBacklinks', admin, { params: { ...params, fileId: missing } });
    expect(bad.status).toBe(404);
  });
});

describe('what changes shows at once', () => {
  test('drafts do not count; renames, moves, deletes and restores of pages do', async () => {
    await edit(content, admin, space, [page('Draft', `[web](https://draft.example.com)`)]);
    expect(await saidOf()).toEqual(all);
    const two = pages.Two ?? '';
    await publish(content, admin, space, [{ operation: 'update_page', page: two, title: 'Renamed' }]);
    expect(await saidOf()).toEqual(all.map((it) => it.replaceAll('Two', 'Renamed')).sort());
    await publish(content, admin, space, [{ operation: 'update_page', page: two, into: pages.Start }]);
    expect(await saidOf()).toEqual(all.map((it) => it.replaceAll('Two', 'Renamed')).sort());
    await publish(content, admin, space, [{ operation: 'delete_page', page: two }]);
    const { body } = await links();
    expect(body.stats).toEqual({ total: 13, broken: { total: 5 } });
    expect((await backlinks(space, pages.Start)).body.items).toEqual([]);
  });

  test('a deleted space breaks the links into it, a restored one mends them', async () => {
    await content.call('deleteSpaceById', admin, { params: { spaceId: other } });
    expect((await links()).body.stats.broken.total).toBe(7);
    expect((await backlinks(other, pages.There)).status).toBe(404);
    await content.call('restoreSpace', admin, { params: { spaceId: other } });
    expect((await links()).body.stats.broken.total).toBe(5);
    expect((await backlinks(other, pages.There)).body.items).toHaveLength(1);
    // And where the links are: a deleted space is no location.
    await content.call('deleteSpaceById', admin, { params: { spaceId: space } });
    expect((await backlinks(other, pages.There)).body.items).toEqual([]);
    await content.call('restoreSpace', admin, { params: { spaceId: space } });
    expect((await backlinks(other, pages.There)).body.items).toHaveLength(1);
  });

  test('the same bytes after a rebuild', async () => {
    const before = [await links(), await backlinks(other, pages.There), await ofPage('Out')];
    await content.service.rebuild(['links']);
    expect([await links(), await backlinks(other, pages.There), await ofPage('Out')]).toEqual(before);
  });
});
