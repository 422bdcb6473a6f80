import { ChangeRequestStatus, MemberRole } from '@gitbook/api';
import { describe, expect, test } from '@jest/globals';
import { eventually, type World } from './world.ts';

/** Collections and spaces: made, placed, found, moved between organizations, deleted, restored. */
export const spaces = (world: () => World): void =>
  describe('collections and spaces', () => {
    let outer: string;
    let inner: string;
    let space: string;

    test('collections: made, nested, changed, listed, moved', async () => {
      const { admin, organization } = world();
      const { orgs, collections } = admin.api;
      const made = await orgs.createCollection(organization, { title: 'Outer' });
      expect(made.status).toBe(201);
      outer = made.data.id;
      inner = (await orgs.createCollection(organization, { title: 'Inner', parent: outer })).data.id;
      const listed = async (nested: boolean) =>
        (await orgs.listCollectionsInOrganizationById(organization, { nested, limit: 1000 })).data.items.map(
          ({ id }) => id,
        );
      expect(await listed(true)).toEqual(expect.arrayContaining([outer, inner]));
      expect(await listed(false)).not.toContain(inner);
      const { data } = await collections.updateCollectionById(inner, {
        title: 'Renamed',
        description: 'What is inside',
        defaultLevel: MemberRole.Comment,
      });
      expect(data).toMatchObject({ title: 'Renamed', description: 'What is inside', defaultLevel: 'comment' });
      expect((await collections.getCollectionById(inner)).data).toMatchObject({ title: 'Renamed', parent: outer });
      await expect(collections.moveCollection(outer, { parent: inner })).rejects.toMatchObject({ code: 400 });
      expect((await collections.moveCollection(inner, { parent: null })).data.parent).toBeUndefined();
      expect(await listed(false)).toContain(inner);
      await expect(collections.moveCollection(inner, { parent: null })).rejects.toMatchObject({ code: 409 });
      await collections.moveCollection(inner, { parent: outer });
    });

    test('spaces: made, changed, listed, moved to a place among others', async () => {
      const { admin, organization } = world();
      const { orgs, spaces, collections } = admin.api;
      const made = await orgs.createSpace(organization, {
        title: 'First',
        parent: inner,
        template: { id: 'handbook' },
      });
      expect(made.status).toBe(201);
      space = made.data.id;
      const second = (await orgs.createSpace(organization, { title: 'Second', parent: inner, empty: true })).data.id;
      expect((await spaces.listPages(space)).data.pages.length).toBeGreaterThan(1);
      expect((await spaces.listPages(second)).data.pages).toEqual([]);
      const { data } = await spaces.updateSpaceById(space, { title: 'Zeroth', emoji: '1f4d8' });
      expect(data).toMatchObject({ title: 'Zeroth', emoji: '1f4d8', parent: inner });
      expect((await spaces.getSpaceById(space)).data.title).toBe('Zeroth');
      const within = async () => (await collections.listSpacesInCollectionById(inner)).data.items.map(({ id }) => id);
      const [head, tail] = await within();
      await spaces.moveSpace(tail ?? '', { parent: inner, position: { before: { type: 'space', space: head ?? '' } } });
      expect(await within()).toEqual([tail, head]);
      const everywhere = (await orgs.listSpacesInOrganizationById(organization, { limit: 1000 })).data.items;
      expect(everywhere.map(({ id }) => id)).toEqual(expect.arrayContaining([space, second]));
    });

    test('templates: applied to a space and within a change request', async () => {
      const { spaces } = world().admin.api;
      const before = (await spaces.listPages(space)).data.pages.length;
      expect((await spaces.applyTemplateToSpace(space, { id: 'release-notes' })).status).toBe(201);
      const after = (await spaces.listPages(space)).data.pages.length;
      expect(after).toBeGreaterThan(before);
      const { data } = await spaces.createChangeRequest(space, { subject: 'More' });
      await spaces.applyTemplateToSpace(space, { id: 'api-reference', changeRequestId: data.id });
      expect((await spaces.listPagesInChangeRequest(space, data.id)).data.pages.length).toBeGreaterThan(after);
      expect((await spaces.listPages(space)).data.pages).toHaveLength(after);
      await spaces.updateChangeRequestById(space, data.id, { status: ChangeRequestStatus.Archived });
    });

    test('searched: in a space, and in all that one may see', async () => {
      const { admin, bob, organization } = world();
      const { spaces } = admin.api;
      const { data } = await spaces.createChangeRequest(space, { subject: 'Findable' });
      await spaces.updateChangeRequestContent(space, data.id, {
        changes: [
          { operation: 'insert_page', title: 'Airships', document: { markdown: '# Airships\n\nA zeppelin rises.' } },
        ],
      });
      await spaces.mergeChangeRequest(space, data.id);
      await spaces.updateSpaceById(space, { defaultLevel: null });
      const found = (await spaces.searchSpaceContent(space, { query: 'zeppelin' })).data.items;
      expect(found.map(({ title }) => title)).toEqual(['Airships']);
      const everywhere = async ({ api }: typeof bob) =>
        (await api.orgs.searchOrganizationContent(organization, { query: 'zeppelin' })).data.items.map(({ id }) => id);
      expect([await everywhere(admin), await everywhere(bob)]).toEqual([[space], []]);
    });

    test('duplicated, deleted, restored', async () => {
      const { orgs, spaces } = world().admin.api;
      const copy = await spaces.duplicateSpace(space);
      expect(copy.status).toBe(201);
      const titles = async (id: string) => (await spaces.listPages(id)).data.pages.map(({ title }) => title);
      expect(await titles(copy.data.id)).toEqual(await titles(space));
      expect((await spaces.deleteSpaceById(copy.data.id)).status).toBe(205);
      expect((await spaces.deleteSpaceById(copy.data.id)).status).toBe(204);
      const listed = async () =>
        (await orgs.listSpacesInOrganizationById(world().organization, { limit: 1000 })).data.items.map(({ id }) => id);
      expect(await listed()).not.toContain(copy.data.id);
      expect((await spaces.restoreSpace(copy.data.id)).data.id).toBe(copy.data.id);
      expect(await listed()).toContain(copy.data.id);
      expect(await titles(copy.data.id)).toEqual(await titles(space));
    });

    test('to another organization: a space by the older client, a collection with everything inside', async () => {
      const { admin, organization } = world();
      const { orgs, spaces, collections } = admin.api;
      const other = (await orgs.createOrganization({ title: 'Elsewhere' })).data.id;
      const single = (await orgs.createSpace(organization, { title: 'Going alone' })).data.id;
      const sent = await admin.api146.spaces.transferSpace(single, { organization: other });
      expect(sent.data).toMatchObject({ id: single, organization: other });
      expect((await spaces.getSpaceById(single)).data.organization).toBe(other);
      await expect(admin.api146.spaces.transferSpace(single, { organization: other })).rejects.toMatchObject({
        code: 409,
      });
      const { data } = await collections.transferCollection(outer, { organization: other });
      expect(data).toMatchObject({ id: outer, organization: other });
      expect((await spaces.getSpaceById(space)).data).toMatchObject({ organization: other, parent: inner });
      await expect(collections.transferCollection(outer, { organization: 'nowhere' })).rejects.toMatchObject({
        code: 404,
      });
      const ids = await eventually('the spaces are listed there', async () => {
        const { items } = (await orgs.listSpacesInOrganizationById(other)).data;
        return items.some(({ id }) => id === space) ? items.map(({ id }) => id) : undefined;
      });
      expect(ids).toContain(single);
    });

    test('collections: deleted', async () => {
      const { collections, spaces } = world().admin.api;
      expect((await collections.deleteCollectionById(outer)).status).toBe(205);
      expect((await collections.deleteCollectionById(outer)).status).toBe(204);
      await expect(collections.getCollectionById(outer)).rejects.toMatchObject({ code: 404 });
      expect((await spaces.getSpaceById(space)).data.deletedAt).toEqual(expect.any(String));
    });
  });
