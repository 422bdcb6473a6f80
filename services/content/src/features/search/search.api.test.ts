import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const reader = member('read');
let content: TestContent;
let handbook: string;
let secret: string;

const page = (title: string, markdown: string, more: object = {}) => ({
  operation: 'insert_page',
  title,
  document: { markdown },
  ...more,
});
const inSpace = (query: string, options: object = {}, spaceId = handbook) =>
  content.call('searchSpaceContent', reader, { params: { spaceId }, query: { query, ...options } });
const everywhere = (query: string, as = reader, options: object = {}) =>
  content.call('searchOrganizationContent', as, { params: { organizationId: 'o1' }, query: { query, ...options } });
const titles = async (query: string): Promise<readonly string[]> =>
  (await inSpace(query)).body.items.map(({ title }) => title);

beforeAll(async () => {
  content = await startContent();
  handbook = await openSpace(content, admin, { title: 'Handbook' });
  await publish(content, admin, handbook, [
    page('Dispatcher', 'Sends work on its way.', { ref: 'd', description: 'How work is sent.' }),
    page('Queues', '## The dispatcher\n\nWhat waits in line.'),
    page('Threads', 'A thread asks the dispatcher for work. Crème brûlée is served.'),
    page('工作流引擎', '这个引擎可以运行长时间的工作流。'),
    page('ワークフロー', '東京都のワークフローを開始します。'),
    page('Hidden from search', 'The dispatcher is here too.', { noIndex: true }),
  ]);
  secret = await openSpace(content, admin, { title: 'Secret' });
  await publish(content, admin, secret, [page('Dispatcher plans', 'Nobody may know.')]);
  await content.call('updateSpaceById', admin, { params: { spaceId: secret }, body: { defaultLevel: null } });
});
afterAll(() => content.stop());

describe('searching a space', () => {
  test('title above heading above text', async () => {
    expect(await titles('dispatcher')).toEqual(['Dispatcher', 'Queues', 'Threads']);
  });

  test('beginnings of words, other cases, without diacritics', async () => {
    expect(await titles('dispatch')).toEqual(['Dispatcher', 'Queues', 'Threads']);
    expect(await titles('DISPATCHER LINE')).toEqual(['Queues']);
    expect(await titles('creme brulee')).toEqual(['Threads']);
  });

  test('Chinese and Japanese, in the middle of a sentence', async () => {
    expect(await titles('引擎')).toEqual(['工作流引擎']);
    expect(await titles('长时间')).toEqual(['工作流引擎']);
    expect(await titles('東京')).toEqual(['ワークフロー']);
    expect(await titles('ワークフロー')).toEqual(['ワークフロー']);
  });

  test('a hit says what and where', async () => {
    const { body } = await inSpace('dispatcher');
    const [first, second] = body.items;
    expect(first).toMatchObject({ rank: 1, resultType: 'page', path: 'dispatcher', description: 'How work is sent.' });
    expect(first?.urls.app).toBe(`https://docs.example.org/app/spaces/${handbook}/pages/${first?.id}`);
    expect(second?.sections?.[0]).toMatchObject({
      id: `${second?.id}#the-dispatcher`,
      title: 'The dispatcher',
      path: 'queues#the-dispatcher',
      resultType: 'section',
    });
    expect((first?.score ?? 0) > (second?.score ?? 0)).toBe(true);
  });

  test('page by page gives the same, with ranks that go on', async () => {
    const whole = (await inSpace('dispatcher')).body.items;
    const parts = [];
    let next: string | undefined;
    do {
      const { body } = await inSpace('dispatcher', { limit: 1, ...(next ? { page: next } : {}) });
      parts.push(...body.items);
      next = body.next?.page;
    } while (next);
    expect(parts).toEqual(whole);
  });

  test('what was just merged is found, what was deleted is not, what moved has its new place', async () => {
    const space = await openSpace(content, admin);
    const find = async (query: string) => (await inSpace(query, {}, space)).body.items;
    await publish(content, admin, space, [page('Parent', 'x', { ref: 'p' }), page('Zebra crossing', 'Stripes.')]);
    const [zebra] = await find('zebra');
    expect(zebra).toMatchObject({ path: 'zebra-crossing', ancestors: [] });
    const [parent] = await find('parent');
    await publish(content, admin, space, [{ operation: 'update_page', page: zebra?.id, into: parent?.id }]);
    expect((await find('stripes'))[0]).toMatchObject({
      path: 'parent/zebra-crossing',
      ancestors: [{ title: 'Parent' }],
    });
    await publish(content, admin, space, [{ operation: 'update_page', page: parent?.id, title: 'Grandparent' }]);
    expect((await find('stripes'))[0]?.ancestors).toEqual([{ title: 'Grandparent' }]);
    await publish(content, admin, space, [
      { operation: 'update_page', page: zebra?.id, document: { markdown: 'Spots.' } },
    ]);
    expect(await find('stripes')).toEqual([]);
    expect(await find('spots')).toHaveLength(1);
    await publish(content, admin, space, [{ operation: 'delete_page', page: parent?.id }]);
    expect(await find('spots')).toEqual([]);
  });

  test('change requests are not searched', async () => {
    const opened = await content.call('createChangeRequest', admin, { params: { spaceId: handbook }, body: {} });
    await content.call('updateChangeRequestContent', admin, {
      params: { spaceId: handbook, changeRequestId: opened.body.id },
      body: { changes: [page('Draft', 'Unpublished walrus.')] },
    });
    expect(await titles('walrus')).toEqual([]);
  });

  test('any query is a query', async () => {
    for (const query of ['', ' ', '"', "'", '*', 'a AND', 'NEAR(', '%', '\u0000', '('.repeat(512), '图'.repeat(512)])
      expect((await inSpace(query)).status).toBeLessThan(500);
    expect((await inSpace('a'.repeat(513))).code).toBe('contract');
  });

  test('strangers and cursors of other lists are refused', async () => {
    const page1 = (await inSpace('dispatcher', { limit: 1 })).body.next?.page ?? '';
    expect((await inSpace('threads', { page: page1 })).status).toBe(400);
    const params = { spaceId: handbook };
    const stranger = await content.call('searchSpaceContent', member(undefined), { params, query: { query: 'x' } });
    expect(stranger.status).toBe(404);
    expect((await inSpace('dispatcher', {}, secret)).status).toBe(404);
  });
});

describe('searching an organization', () => {
  test('finds pages by space, only in spaces that the caller may view', async () => {
    const found = (await everywhere('dispatcher')).body.items;
    expect(found.map(({ title }) => title)).toEqual(['Handbook']);
    expect(found[0]).toMatchObject({ type: 'space', id: handbook });
    expect(found[0]?.pages.map(({ title }) => title)).toEqual(['Dispatcher', 'Queues', 'Threads']);
    const all = (await everywhere('dispatcher', admin)).body.items.map(({ title }) => title);
    expect([...all].sort()).toEqual(['Handbook', 'Secret']);
    expect((await everywhere('dispatcher', member(null))).body.items).toEqual([]);
    expect((await everywhere('dispatcher', member(undefined))).status).toBe(404);
  });

  test('a space that is deleted leaves at once and comes back when restored', async () => {
    const space = await openSpace(content, admin, { title: 'Temporary' });
    await publish(content, admin, space, [page('Ephemeral', 'mayfly')]);
    const found = async () => (await everywhere('mayfly')).body.items.map(({ title }) => title);
    expect(await found()).toEqual(['Temporary']);
    await content.call('deleteSpaceById', admin, { params: { spaceId: space } });
    expect(await found()).toEqual([]);
    await content.call('restoreSpace', admin, { params: { spaceId: space } });
    expect(await found()).toEqual(['Temporary']);
  });

  test('answers go on from the last page: none is left out, none comes twice, ranks go on', async () => {
    const whole = (await everywhere('dispatcher', admin)).body.items.flatMap(({ pages }) => pages);
    const seen: { id: string; rank: number }[] = [];
    const spaces = new Set<string>();
    for (let next: string | undefined = '', turns = 0; next !== undefined; turns += 1) {
      expect(turns).toBeLessThan(10);
      const { body } = await everywhere('dispatcher', admin, { limit: 1, ...(next ? { page: next } : {}) });
      expect(body.items).toHaveLength(1);
      spaces.add(body.items[0]?.id ?? '');
      seen.push(...(body.items[0]?.pages ?? []).map(({ id, rank }) => ({ id, rank })));
      next = body.next?.page;
    }
    expect(spaces.size).toBe(2);
    expect(seen.map(({ rank }) => rank)).toEqual(seen.map((_, at) => at + 1));
    expect(seen.map(({ id }) => id).sort()).toEqual(whole.map(({ id }) => id).sort());
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  });
});
