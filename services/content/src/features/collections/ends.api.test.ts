import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Directory, identityOf, principalOf, startContent, type TestContent } from '../../testing.ts';
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

describe('deleting', () => {
  test('takes everything inside; spaces can be restored, at the top, for as many as before', async () => {
    const place = await newCollection();
    await content.call('updateCollectionById', boss, { params: { collectionId: place }, body: { defaultLevel: null } });
    const nested = await newCollection({ parent: place });
    const [outer, inner] = [await newSpace(place), await newSpace(nested)];
    const params = { collectionId: place };
    expect((await content.call('deleteCollectionById', as('maker'), { params })).status).toBe(204);
    expect((await content.call('deleteCollectionById', boss, { params })).status).toBe(205);
    expect((await content.call('deleteCollectionById', boss, { params })).status).toBe(204);
    expect((await content.call('getCollectionById', boss, { params: { collectionId: nested } })).status).toBe(404);
    const listed = await content.call('listSpacesInOrganizationById', boss, {
      params: inOrganization,
      query: { limit: 1000 },
    });
    const ids = listed.body.items.map(({ id }) => id);
    expect(ids).not.toContain(outer);
    expect(ids).not.toContain(inner);
    const restored = await content.call('restoreSpace', boss, { params: { spaceId: inner } });
    expect(restored.status).toBe(200);
    expect(restored.body).not.toHaveProperty('parent');
    expect(restored.body.defaultLevel).toBeNull();
    expect((await content.call('getSpaceById', as('maker'), { params: { spaceId: inner } })).status).toBe(404);
    await content.settled();
    expect((await content.call('getSpaceById', boss, { params: { spaceId: inner } })).body).not.toHaveProperty(
      'deletedAt',
    );
  });

  test('what is put in at the same moment goes the same way', async () => {
    for (let round = 0; round < 5; round += 1) {
      const place = await newCollection();
      const loose = await newSpace();
      const [made, moved] = await Promise.all([
        content.call('createSpace', boss, { params: inOrganization, body: { empty: true, parent: place } }),
        moveSpace(loose, { parent: place }),
        content.call('deleteCollectionById', boss, { params: { collectionId: place } }),
      ]);
      await content.settled();
      for (const id of [made.status === 201 ? made.body.id : '', loose]) {
        if (id === '') continue;
        const found = await content.call('getSpaceById', boss, { params: { spaceId: id } });
        if (found.body.parent === place) expect(found.body).toHaveProperty('deletedAt');
      }
      expect([200, 404]).toContain(moved.status);
      const listed = await content.call('listSpacesInOrganizationById', boss, {
        params: inOrganization,
        query: { limit: 1000 },
      });
      expect(listed.body.items.filter(({ parent }) => parent === place)).toEqual([]);
    }
  });
});

describe('transfer', () => {
  test('a collection goes with everything inside, and what was given ends', async () => {
    const place = await newCollection({ title: 'Going' });
    const nested = await newCollection({ parent: place });
    const [outer, inner, gone] = [await newSpace(place), await newSpace(nested), await newSpace(nested)];
    await content.call('deleteSpaceById', boss, { params: { spaceId: gone } });
    const params = { collectionId: place };
    const invited = await content.call('inviteToCollection', boss, {
      params,
      body: { role: 'edit', users: ['maker'] },
    });
    expect(invited.status).toBe(204);
    const change = async () => content.call('transferCollection', boss, { params, body: { organization: 'o2' } });
    expect(
      (await content.call('transferCollection', as('maker'), { params, body: { organization: 'o2' } })).status,
    ).toBe(403);
    expect((await content.call('transferCollection', boss, { params, body: { organization: 'o9' } })).status).toBe(404);
    expect(await change()).toMatchObject({ status: 200, body: { id: place, organization: 'o2', title: 'Going' } });
    expect((await change()).status).toBe(409);
    for (const [id, parent] of [
      [outer, place],
      [inner, nested],
      [gone, nested],
    ] as const)
      expect((await content.call('getSpaceById', boss, { params: { spaceId: id } })).body).toMatchObject({
        organization: 'o2',
        parent,
      });
    expect(
      (await content.call('getSpaceById', as('maker'), { params: { spaceId: inner } })).body.permissions,
    ).toMatchObject({ view: true, edit: false });
    const left = await content.call('listCollectionsInOrganizationById', boss, {
      params: inOrganization,
      query: { limit: 1000 },
    });
    expect(left.body.items.map(({ id }) => id)).not.toContain(place);
    await content.settled();
    expect((await content.call('transferCollection', boss, { params, body: { organization: 'o1' } })).status).toBe(200);
    await content.settled();
    expect((await content.call('listUserPermissionsInCollection', boss, { params })).body.items).toEqual([]);
    expect(await spacesIn(nested)).toEqual([inner]);
  });

  test('a space goes by itself, its pages are found there', async () => {
    const spaceId = await newSpace(await newCollection());
    const opened = await content.call('createChangeRequest', boss, { params: { spaceId }, body: { subject: 'Words' } });
    const params = { spaceId, changeRequestId: opened.body.id };
    const changes = [{ operation: 'insert_page', title: 'Zeppelin', document: { markdown: 'Flies.' } }];
    await content.call('updateChangeRequestContent', boss, { params, body: { changes } });
    await content.call('mergeChangeRequest', boss, { params });
    await content.call('createChangeRequest', boss, { params: { spaceId }, body: { subject: 'Open' } });
    expect(
      (await content.call('transferSpace', boss, { params: { spaceId }, body: { organization: 'o1' } })).status,
    ).toBe(409);
    const sent = await content.call('transferSpace', boss, { params: { spaceId }, body: { organization: 'o2' } });
    expect(sent).toMatchObject({ status: 200, body: { organization: 'o2' } });
    expect(sent.body).not.toHaveProperty('parent');
    const found = async (organizationId: string) =>
      (
        await content.call('searchOrganizationContent', boss, {
          params: { organizationId },
          query: { query: 'zeppelin' },
        })
      ).body.items.length;
    await content.settled();
    expect([await found('o1'), await found('o2')]).toEqual([0, 1]);
    const requests = async (organizationId: string) => {
      const list = await content.call('listChangeRequestsForOrganization', boss, {
        params: { organizationId },
        query: { space: spaceId },
      });
      return list.body.items.length;
    };
    expect([await requests('o1'), await requests('o2')]).toEqual([0, 1]);
  });
});

test('rebuilding gives the same answers', () => sameAfterRebuild(content, ['boss', 'maker', 'guest'].map(as)));
