import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { baseUrl, type Directory, identityOf, principalOf, startContent, type TestContent } from '../../testing.ts';
import { sameAfterRebuild } from './testing.ts';

const directory: Directory = {
  o1: { boss: { role: 'admin', teams: [] }, maker: { role: 'create', teams: [] }, guest: { role: null, teams: [] } },
  o2: { boss: { role: 'admin', teams: [] }, maker: { role: 'read', teams: [] } },
};
let content: TestContent;
const as = (id: string) => principalOf(directory, id);
const boss = as('boss');

beforeAll(async () => {
  content = await startContent({ services: identityOf(directory, []) });
});
afterAll(() => content.stop());

const inOrganization = { organizationId: 'o1' };
const newCollection = async (body: object = {}, organizationId = 'o1'): Promise<string> => {
  const answer = await content.call('createCollection', boss, { params: { organizationId }, body });
  expect(answer.status).toBe(201);
  return answer.body.id;
};
const newSpace = async (parent?: string, title = 'Space'): Promise<string> => {
  const body = { empty: true, title, ...(parent ? { parent } : {}) };
  const answer = await content.call('createSpace', boss, { params: inOrganization, body });
  expect(answer.status).toBe(201);
  return answer.body.id;
};
const spacesIn = async (collectionId: string, who = boss): Promise<string[]> =>
  (await content.call('listSpacesInCollectionById', who, { params: { collectionId } })).body.items.map(({ id }) => id);
const moveSpace = (spaceId: string, body: object, who = boss) =>
  content.call('moveSpace', who, { params: { spaceId }, body });
const moveCollection = (collectionId: string, body: object, who = boss) =>
  content.call('moveCollection', who, { params: { collectionId }, body });
const space = (id: string) => ({ type: 'space', space: id });
const collection = (id: string) => ({ type: 'collection', collection: id });

describe('a collection', () => {
  test('is made, shown, changed', async () => {
    const made = await content.call('createCollection', boss, { params: inOrganization });
    expect(made).toMatchObject({ status: 201, location: `${baseUrl}/v1/collections/${made.body.id}` });
    expect(made.body).toEqual({
      object: 'collection',
      id: made.body.id,
      title: 'Untitled',
      organization: 'o1',
      defaultLevel: 'inherit',
      urls: {
        location: `${baseUrl}/v1/collections/${made.body.id}`,
        app: `${baseUrl}/app/collections/${made.body.id}`,
      },
      permissions: { view: true, admin: true, viewInviteLinks: true, create: true },
    });
    const params = { collectionId: made.body.id };
    const body = { title: 'Guides', description: 'All of them', defaultLevel: 'read' };
    const changed = await content.call('updateCollectionById', boss, { params, body });
    expect(changed.body).toMatchObject(body);
    expect((await content.call('getCollectionById', boss, { params })).body).toEqual(changed.body);
    const emptied = await content.call('updateCollectionById', boss, { params, body: { description: '' } });
    expect(emptied.body).not.toHaveProperty('description');
  });

  test('is made by who may create, in the place where it may', async () => {
    const top = await newCollection({ title: 'Top' });
    const params = inOrganization;
    expect((await content.call('createCollection', as('maker'), { params, body: { parent: top } })).status).toBe(201);
    await content.call('updateCollectionById', boss, { params: { collectionId: top }, body: { defaultLevel: 'read' } });
    expect((await content.call('createCollection', as('maker'), { params, body: { parent: top } })).status).toBe(403);
    const space = await content.call('createSpace', as('maker'), { params, body: { parent: top } });
    expect(space.status).toBe(403);
    expect((await content.call('createCollection', as('guest'), { params })).status).toBe(403);
    expect((await content.call('createCollection', as('guest'), { params, body: { parent: top } })).status).toBe(404);
    expect((await content.call('createCollection', as('nobody'), { params })).status).toBe(404);
    const other = { organizationId: 'o2' };
    expect((await content.call('createCollection', boss, { params: other, body: { parent: top } })).status).toBe(404);
    expect((await content.call('createSpace', boss, { params: other, body: { parent: top } })).status).toBe(404);
    expect(
      (await content.call('updateCollectionById', as('maker'), { params: { collectionId: top }, body: {} })).status,
    ).toBe(403);
  });

  test('ten levels, not eleven; no cycles', async () => {
    const chain: string[] = [];
    for (let level = 0; level < 10; level += 1) {
      const parent = chain.at(-1);
      chain.push(await newCollection(parent === undefined ? {} : { parent }));
    }
    const [first = '', second = ''] = chain;
    const body = { parent: chain.at(-1) };
    expect((await content.call('createCollection', boss, { params: inOrganization, body })).status).toBe(400);
    expect((await moveCollection(first, body)).code).toBe('collection.cycle');
    expect((await moveCollection(second, { parent: second })).status).toBe(400);
    const above = await newCollection();
    expect((await moveCollection(first, { parent: above })).code).toBe('collection.too_deep');
    expect((await moveCollection(second, { parent: above })).status).toBe(200);
  });

  const parentOf = async (collectionId: string): Promise<string | undefined> => {
    const found = await content.call('getCollectionById', boss, { params: { collectionId } });
    expect(found.status).toBe(200);
    return found.body.parent;
  };

  test('concurrent moves into one another leave a tree', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => newCollection()));
    const moves = ids.flatMap((id, index) => [1, 2, 3].map((step) => [id, ids[(index + step) % ids.length]] as const));
    const answers = await Promise.all(moves.map(([id, parent]) => moveCollection(id, { parent })));
    expect(answers.every(({ status }) => [200, 400, 409].includes(status))).toBe(true);
    for (const id of ids) {
      let at: string | undefined = id;
      const seen = new Set<string>();
      while (at !== undefined) {
        expect(seen.has(at)).toBe(false);
        seen.add(at);
        at = await parentOf(at);
      }
    }
  });
});

describe('siblings', () => {
  test('spaces are where they were put', async () => {
    const place = await newCollection();
    const [a, b, c] = [await newSpace(place), await newSpace(place), await newSpace(place)];
    expect(await spacesIn(place)).toEqual([a, b, c]);
    const moved = await moveSpace(c, { position: { before: space(a) } });
    expect(moved).toMatchObject({ status: 200, body: { id: c, parent: place } });
    expect(await spacesIn(place)).toEqual([c, a, b]);
    expect((await moveSpace(c, { position: { after: space(a) } })).status).toBe(200);
    expect(await spacesIn(place)).toEqual([a, c, b]);
    const nested = await newCollection({ parent: place });
    expect((await moveSpace(a, { position: { after: collection(nested) } })).status).toBe(200);
    expect(await spacesIn(place)).toEqual([c, b, a]);
    expect((await moveCollection(nested, { position: { before: space(c) } })).status).toBe(200);
    expect((await moveSpace(b, { position: { before: collection(nested) } })).status).toBe(200);
    expect(await spacesIn(place)).toEqual([b, c, a]);
  });

  test('what would change nothing is 409, what is no position 400, no collection 404', async () => {
    const place = await newCollection();
    const [a, b] = [await newSpace(place), await newSpace(place)];
    const elsewhere = await newSpace();
    expect((await moveSpace(a, {})).status).toBe(409);
    expect((await moveSpace(a, { parent: place })).status).toBe(409);
    expect((await moveSpace(a, { position: { before: space(b) } })).status).toBe(409);
    expect((await moveSpace(b, { position: { after: space(a) } })).status).toBe(409);
    expect((await moveSpace(a, { position: { before: space(a) } })).status).toBe(400);
    expect((await moveSpace(a, { position: { before: space(elsewhere) } })).status).toBe(400);
    expect((await moveSpace(a, { position: { before: space(b), after: space(b) } })).status).toBe(400);
    expect((await moveSpace(a, { position: { after: space('nothing') } })).status).toBe(400);
    expect((await moveSpace(a, { parent: null, position: { after: space(b) } })).status).toBe(400);
    expect((await moveSpace(a, { parent: 'nothing' })).status).toBe(404);
    expect((await moveCollection(place, {})).status).toBe(409);
    expect((await moveCollection(place, { parent: 'nothing' })).status).toBe(404);
    expect((await moveCollection('nothing', { parent: null })).status).toBe(404);
    expect((await moveSpace(a, { parent: null })).body).not.toHaveProperty('parent');
    expect((await moveSpace(a, { parent: null }, as('maker'))).status).toBe(403);
  });

  test('concurrent moves: everybody is there once, in an order that stays', async () => {
    const place = await newCollection();
    const ids = await Promise.all(Array.from({ length: 8 }, () => newSpace(place)));
    const [anchor = ''] = ids;
    const answers = await Promise.all(
      ids
        .slice(1)
        .map((id, index) =>
          moveSpace(id, { position: index % 2 ? { after: space(anchor) } : { before: space(anchor) } }),
        ),
    );
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const order = await spacesIn(place);
    expect([...order].sort()).toEqual([...ids].sort());
    expect(await spacesIn(place)).toEqual(order);
    const paged: string[] = [];
    const page = async (query: object): Promise<string | undefined> => {
      const params = { collectionId: place };
      const { body } = await content.call('listSpacesInCollectionById', boss, {
        params,
        query: { limit: 3, ...query },
      });
      expect(body.count).toBe(8);
      paged.push(...body.items.map(({ id }) => id));
      return body.next?.page;
    };
    for (let next = await page({}); next !== undefined; ) next = await page({ page: next });
    expect(paged).toEqual(order);
  });

  test('collections are listed in order, nested ones when asked for, page by page', async () => {
    const organizationId = 'o2';
    const [a, b] = [
      await newCollection({ title: 'a' }, organizationId),
      await newCollection({ title: 'b' }, organizationId),
    ];
    const inside = await newCollection({ title: 'c', parent: a }, organizationId);
    await moveCollection(b, { position: { before: collection(a) } });
    const list = async (query: object) =>
      (
        await content.call('listCollectionsInOrganizationById', boss, {
          params: { organizationId },
          query: { ...query },
        })
      ).body;
    expect((await list({ nested: false })).items.map(({ id }) => id)).toEqual([b, a]);
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, page: first.next?.page });
    expect(first.count).toBe(3);
    expect([...first.items, ...second.items].map(({ id }) => id).sort()).toEqual([a, b, inside].sort());
    expect(second).not.toHaveProperty('next');
    expect(
      (await content.call('listCollectionsInOrganizationById', as('guest'), { params: inOrganization })).body.items,
    ).toEqual([]);
  });

  test('a copy stays beside its original', async () => {
    const place = await newCollection();
    const original = await newSpace(place);
    const copy = await content.call('duplicateSpace', boss, { params: { spaceId: original } });
    expect(copy.body.parent).toBe(place);
    expect(await spacesIn(place)).toEqual([original, copy.body.id]);
  });
});

test('rebuilding gives the same answers', () => sameAfterRebuild(content, ['boss', 'maker', 'guest'].map(as)));
