import type { OperationId } from '@bindery/contracts';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const creator = member('create');
const day = 24 * 60 * 60 * 1000;
let content: TestContent;
beforeAll(async () => {
  content = await startContent();
});
afterAll(() => content.stop());

const call = <K extends OperationId>(operationId: K, spaceId: string, as = admin) =>
  content.call(operationId, as, { params: { spaceId } });
const make = async (body: object = {}): Promise<string> =>
  (await content.call('createSpace', admin, { params: { organizationId: 'o1' }, body })).body.id;
const listed = async (): Promise<readonly string[]> =>
  (await content.call('listSpacesInOrganizationById', admin, { params: { organizationId: 'o1' } })).body.items.map(
    ({ id }): string => id,
  );

describe('deleting and restoring', () => {
  test('a deleted space is nowhere, but its administrators can look and restore it', async () => {
    const id = await make({ title: 'Gone' });
    expect((await call('deleteSpaceById', id, creator)).status).toBe(403);
    expect(await call('deleteSpaceById', id)).toMatchObject({ status: 205 });
    expect(await call('deleteSpaceById', id)).toMatchObject({ status: 204 });
    expect((await call('getSpaceById', id)).body.deletedAt).toBe(content.ports.clock.now().toISOString());
    for (const operation of ['listPages', 'getCurrentRevision', 'listFiles', 'duplicateSpace'] as const)
      expect({ operation, status: (await call(operation, id)).status }).toEqual({ operation, status: 404 });
    expect((await call('getSpaceById', id, creator)).status).toBe(404);
    expect((await call('restoreSpace', id, creator)).status).toBe(404);
    expect(await listed()).not.toContain(id);
    const patched = await content.call('updateSpaceById', admin, { params: { spaceId: id }, body: { title: 'x' } });
    expect(patched.status).toBe(404);

    const restored = await call('restoreSpace', id);
    expect(restored.status).toBe(200);
    expect(restored.body.title).toBe('Gone');
    expect(restored.body.deletedAt).toBeUndefined();
    expect(await listed()).toContain(id);
    expect((await call('getSpaceById', id, creator)).status).toBe(200);
    expect((await call('restoreSpace', id)).body).toEqual(restored.body);
  });

  test('If-Match protects from deleting and restoring what was not seen', async () => {
    const id = await make({ title: 'Seen' });
    const { etag: early = '' } = await call('getSpaceById', id);
    await content.call('updateSpaceById', admin, { params: { spaceId: id }, body: { title: 'Changed' } });
    const when = async (operationId: 'deleteSpaceById' | 'restoreSpace', ifMatch: string) =>
      (await content.call(operationId, admin, { params: { spaceId: id }, ifMatch })).status;
    for (const stale of [early, '999999', 'nonsense']) expect(await when('deleteSpaceById', stale)).toBe(412);
    const { etag: late = '', body } = await call('getSpaceById', id);
    expect(body.deletedAt).toBeUndefined();
    expect(await when('deleteSpaceById', late)).toBe(205);
    expect(await when('restoreSpace', late)).toBe(412);
    const { etag: deleted = '' } = await call('getSpaceById', id);
    expect(await when('restoreSpace', deleted)).toBe(200);
    expect([await when('deleteSpaceById', '*'), await when('restoreSpace', '*')]).toEqual([205, 200]);
  });

  test('what never was, what is not seen and what was deleted look alike', async () => {
    const id = await make();
    expect((await call('deleteSpaceById', 'never-was')).status).toBe(204);
    expect((await call('deleteSpaceById', id, member(undefined, 'stranger'))).status).toBe(204);
    expect((await call('getSpaceById', id)).status).toBe(200);
  });

  test('after seven days it is purged, and not a moment before', async () => {
    const id = await make({ title: 'Purged' });
    const kept = await make({ title: 'Kept' });
    await call('deleteSpaceById', id);
    await call('deleteSpaceById', kept);
    content.ports.clock.advance(7 * day - 1);
    expect((await call('restoreSpace', kept)).status).toBe(200);
    expect((await call('getSpaceById', id)).status).toBe(200);
    content.ports.clock.advance(1);
    expect((await call('restoreSpace', id)).status).toBe(404);
    expect((await call('getSpaceById', id)).status).toBe(404);

    const events = async () => {
      const types: string[] = [];
      for await (const event of content.ports.eventStore.readStream(`content.space-${id}`)) types.push(event.type);
      return types;
    };
    await until('the space is purged', async () => (await events()).includes('SpacePurged'));
    content = await content.restarted();
    await content.settled();
    content.ports.clock.advance(day);
    await call('deleteSpaceById', await make());
    await content.settled();
    expect((await events()).filter((type) => type === 'SpacePurged')).toHaveLength(1);
    expect((await call('getSpaceById', kept)).status).toBe(200);
    expect((await call('restoreSpace', id)).status).toBe(404);
    expect((await call('deleteSpaceById', id)).status).toBe(204);
  });
});
