import { identityEvents, type operations, teamEvents } from '@bindery/contracts';
import { type CloudEvent, serviceTopic } from '@bindery/message-bus';
import { createIdSource, type MemberRole } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { baseUrl, startContent, type TestContent } from '../../testing.ts';
import { type Directory, identityOf, principalOf } from './testing.ts';

const directory: Directory = {
  o1: {
    boss: { role: 'admin', teams: [] },
    writer: { role: 'edit', teams: ['t1'] },
    reader: { role: 'read', teams: [] },
    guest: { role: null, teams: [] },
    friend: { role: null, teams: ['t1'] },
    visitor: { role: null, teams: [] },
  },
  o2: { stranger: { role: 'admin', teams: [] } },
};
let content: TestContent;
const as = (id: string) => principalOf(directory, id);
const boss = as('boss');
const organization = { organizationId: 'o1' };

beforeAll(async () => {
  content = await startContent({ services: identityOf(directory, ['t1', 't2']) });
});
afterAll(() => content.stop());

const newCollection = async (body: object = {}): Promise<string> =>
  (await content.call('createCollection', boss, { params: organization, body })).body.id;
const newSpace = async (parent?: string): Promise<string> => {
  const body = { empty: true, ...(parent ? { parent } : {}) };
  return (await content.call('createSpace', boss, { params: organization, body })).body.id;
};
const invite = (spaceId: string, body: object, who = boss) =>
  content.call('inviteToSpace', who, { params: { spaceId }, body });
const status = async (spaceId: string, who: string) =>
  (await content.call('getSpaceById', as(who), { params: { spaceId } })).status;
const aggregate = async (spaceId: string, query: object = {}) => {
  const answer = await content.call('listPermissionsAggregateInSpace', boss, {
    params: { spaceId },
    query: { ...query },
  });
  return { ...answer.body, items: answer.body.items.map(({ permission, user }) => [idOf(user), permission]) };
};
/** The test client embeds users as the gateway does. */
const idOf = (resource: unknown): string => Object(resource).id;
const internal = async (id: keyof typeof operations, who: string, body: object): Promise<Record<string, unknown>> => {
  const context = {
    principal: as(who),
    requestId: 'r1',
    now: new Date(),
    ids: createIdSource(),
    signal: AbortSignal.timeout(5000),
    baseUrl,
  };
  const answer = await content.service.handlers[id]?.(context, { params: {}, query: {}, body });
  return Object(answer?.body);
};

describe('giving levels', () => {
  test('to users and teams, at the next request; changed and taken again', async () => {
    const spaceId = await newSpace();
    expect([await status(spaceId, 'guest'), await status(spaceId, 'friend')]).toEqual([404, 404]);
    expect((await invite(spaceId, { role: 'comment', users: ['guest'], teams: ['t1'] })).status).toBe(204);
    expect([await status(spaceId, 'guest'), await status(spaceId, 'friend')]).toEqual([200, 200]);
    const users = await content.call('listUserPermissionsInSpace', boss, { params: { spaceId } });
    expect(users.body.items).toMatchObject([{ permission: 'comment', user: { id: 'guest' } }]);
    const teams = await content.call('listTeamPermissionsInSpace', boss, { params: { spaceId } });
    expect(teams.body).toMatchObject({ count: 1, items: [{ permission: 'comment', team: { id: 't1' } }] });
    const ofGuest = { spaceId, userId: 'guest' };
    const raised = await content.call('updateUserPermissionInSpace', boss, { params: ofGuest, body: { role: 'edit' } });
    expect(raised.status).toBe(204);
    const seen = await content.call('getSpaceById', as('guest'), { params: { spaceId } });
    expect(seen.body.permissions).toMatchObject({ edit: true, review: false });
    expect((await content.call('updateUserPermissionInSpace', boss, { params: ofGuest, body: {} })).status).toBe(204);
    expect((await content.call('removeUserFromSpace', boss, { params: ofGuest })).status).toBe(205);
    expect((await content.call('removeUserFromSpace', boss, { params: ofGuest })).status).toBe(204);
    expect(
      (await content.call('updateUserPermissionInSpace', boss, { params: ofGuest, body: { role: 'read' } })).status,
    ).toBe(404);
    expect(await status(spaceId, 'guest')).toBe(404);
    const ofTeam = { spaceId, teamId: 't1' };
    expect(
      (await content.call('updateTeamPermissionInSpace', boss, { params: ofTeam, body: { role: null } })).status,
    ).toBe(204);
    expect((await content.call('removeTeamFromSpace', boss, { params: ofTeam })).status).toBe(204);
    expect(await status(spaceId, 'friend')).toBe(404);
  });

  test('to nobody when one of them is not there; by administrators only', async () => {
    const spaceId = await newSpace();
    expect((await invite(spaceId, { role: 'read', users: ['guest', 'stranger'] })).status).toBe(404);
    expect((await invite(spaceId, { role: 'read', users: ['guest'], teams: ['t9'] })).status).toBe(404);
    expect((await invite(spaceId, { role: 'read' })).status).toBe(400);
    expect(await status(spaceId, 'guest')).toBe(404);
    expect((await invite(spaceId, { role: 'admin', users: ['writer'] }, as('writer'))).status).toBe(403);
    expect((await invite(spaceId, { role: 'admin', users: ['guest'] }, as('guest'))).status).toBe(404);
    expect((await invite(spaceId, { role: 'read', users: ['stranger'] }, as('stranger'))).status).toBe(404);
    const params = { spaceId };
    expect((await content.call('listUserPermissionsInSpace', as('reader'), { params })).status).toBe(403);
    expect(
      (await content.call('removeUserFromSpace', as('stranger'), { params: { spaceId, userId: 'guest' } })).status,
    ).toBe(204);
  });

  test('on a collection, and on everything in it now and later', async () => {
    const outer = await newCollection();
    const collectionId = await newCollection({ parent: outer });
    await content.call('updateCollectionById', boss, { params: { collectionId: outer }, body: { defaultLevel: null } });
    const inside = await newSpace(collectionId);
    const params = { collectionId: outer };
    expect(await status(inside, 'reader')).toBe(404);
    const body = { role: 'create', users: ['reader'], teams: ['t2'] };
    expect((await content.call('inviteToCollection', boss, { params, body })).status).toBe(204);
    const made = await content.call('createSpace', as('reader'), {
      params: organization,
      body: { parent: collectionId },
    });
    expect(made.status).toBe(201);
    expect(await status(made.body.id, 'reader')).toBe(200);
    expect((await content.call('createSpace', as('reader'), { params: organization })).status).toBe(403);
    await content.call('moveSpace', boss, { params: { spaceId: inside }, body: { parent: null } });
    const listed = await content.call('listPermissionsAggregateInCollection', boss, {
      params,
      query: { role: 'create' },
    });
    expect(listed.body.items).toMatchObject([{ permission: 'create', user: { id: 'reader' } }]);
    expect((await content.call('listTeamPermissionsInCollection', boss, { params })).body.items).toHaveLength(1);
    const team = { collectionId: outer, teamId: 't2' };
    expect(
      (await content.call('updateTeamPermissionInCollection', boss, { params: team, body: { role: 'read' } })).status,
    ).toBe(204);
    expect((await content.call('removeTeamFromCollection', boss, { params: team })).status).toBe(205);
    const user = { collectionId: outer, userId: 'reader' };
    expect(
      (await content.call('updateUserPermissionInCollection', boss, { params: user, body: { role: 'read' } })).status,
    ).toBe(204);
    expect((await content.call('listUserPermissionsInCollection', boss, { params })).body.items).toMatchObject([
      { permission: 'read' },
    ]);
    expect((await content.call('removeUserFromCollection', boss, { params: user })).status).toBe(205);
    expect(await status(made.body.id, 'reader')).toBe(404);
  });
});

test('everyone with access is listed with the level that counts in the end, page by page', async () => {
  const collectionId = await newCollection();
  const spaceId = await newSpace(collectionId);
  await invite(spaceId, { role: 'comment', teams: ['t1'] });
  await content.call('inviteToCollection', boss, {
    params: { collectionId },
    body: { role: 'review', users: ['guest'] },
  });
  const all = [
    ['boss', 'admin'],
    ['writer', 'edit'],
    ['reader', 'read'],
    ['guest', 'review'],
    ['friend', 'comment'],
  ];
  expect((await aggregate(spaceId)).items).toEqual(all);
  const paged: unknown[] = [];
  for (let query: object | undefined = { limit: 2 }; query !== undefined; ) {
    const body: Awaited<ReturnType<typeof aggregate>> = await aggregate(spaceId, query);
    paged.push(...body.items);
    query = body.next && { limit: 2, page: body.next.page };
  }
  expect(paged).toEqual(all);
  expect((await aggregate(spaceId, { role: 'read' })).items).toEqual([['reader', 'read']]);
  await content.call('updateSpaceById', boss, { params: { spaceId }, body: { defaultLevel: null } });
  expect((await aggregate(spaceId)).items.map(([id]) => id)).toEqual(['boss', 'writer', 'guest', 'friend']);
});

describe('who is no member any more', () => {
  const say = async (
    type: string,
    data: { readonly organizationId: string } & Record<string, string>,
    time: string,
  ) => {
    const event: CloudEvent = {
      specversion: '1.0',
      id: `event-${type}-${time}`,
      source: '/services/identity',
      type,
      subject: data.organizationId,
      time,
      datacontenttype: 'application/json',
      dataschema: 'https://docs.example.org/schema',
      data,
    };
    await content.ports.bus.publish(serviceTopic('identity'), [{ key: data.organizationId, event }]);
  };
  const levels = async (spaceId: string, operation: 'listUserPermissionsInSpace' | 'listTeamPermissionsInSpace') =>
    (await content.call(operation, boss, { params: { spaceId } })).body.count;

  test('has nothing at once, and what it was given goes away; what it is given later stays', async () => {
    const spaceId = await newSpace();
    const other = await newSpace();
    await invite(spaceId, { role: 'edit', users: ['guest'], teams: ['t1'] });
    await invite(other, { role: 'edit', users: ['friend'] });
    const { o1 = {} } = directory;
    const { guest, ...rest } = o1;
    directory.o1 = rest;
    expect(await status(spaceId, 'guest')).toBe(404);
    expect((await content.call('listUserPermissionsInSpace', boss, { params: { spaceId } })).body.items).toEqual([]);
    const removedAt = new Date(content.ports.clock.now().getTime() + 1).toISOString();
    await say(identityEvents.memberRemoved.type, { organizationId: 'o1', userId: 'guest', removedAt }, removedAt);
    await until(
      'the grants of the member are gone',
      async () => (await levels(spaceId, 'listUserPermissionsInSpace')) === 0,
    );
    await say(teamEvents.teamDeleted.type, { organizationId: 'o1', teamId: 't1', deletedAt: removedAt }, removedAt);
    await until(
      'the grants of the team are gone',
      async () => (await levels(spaceId, 'listTeamPermissionsInSpace')) === 0,
    );
    directory.o1 = { ...rest, ...(guest ? { guest } : {}) };
    expect(await status(spaceId, 'guest')).toBe(404);
    expect(await status(other, 'friend')).toBe(200);
    const before = '2020-01-01T00:00:00.000Z';
    await say(identityEvents.memberRemoved.type, { organizationId: 'o1', userId: 'friend', removedAt: before }, before);
    await say('bindery.identity.something.else.v1', { organizationId: 'o1' }, before);
    await content.settled();
    expect(await status(other, 'friend')).toBe(200);
  });
});

describe('other services', () => {
  test('load what the caller may view, and nothing else', async () => {
    const collectionId = await newCollection();
    const [inside, closed, gone] = [await newSpace(collectionId), await newSpace(), await newSpace()];
    await content.call('updateSpaceById', boss, { params: { spaceId: closed }, body: { defaultLevel: null } });
    await content.call('deleteSpaceById', boss, { params: { spaceId: gone } });
    const ids = [inside, closed, gone, 'nothing'];
    const spaces = async (who: string) => [(await internal('loadSpaces', who, { ids })).spaces].flat().map(idOf).sort();
    expect(await spaces('boss')).toEqual([closed, inside].sort());
    expect(await spaces('reader')).toEqual([inside]);
    expect(await spaces('guest')).toEqual([]);
    expect(await spaces('stranger')).toEqual([]);
    const collections = async (who: string) =>
      (await internal('loadCollections', who, { ids: [collectionId, 'x'] })).collections;
    expect(await collections('reader')).toMatchObject([{ object: 'collection', id: collectionId }]);
    expect(await collections('guest')).toEqual([]);
  });

  test('list and count the spaces of members and teams', async () => {
    const spaceId = await newSpace();
    const collectionId = await newCollection();
    await newSpace(collectionId);
    await newSpace(collectionId);
    await invite(spaceId, { role: 'review', users: ['visitor'] });
    await content.call('inviteToCollection', boss, { params: { collectionId }, body: { role: 'read', teams: ['t2'] } });
    const member = { userId: 'visitor', role: null, teams: ['t2'] };
    const body = { ...organization, ...member };
    const listed = await internal('listSpacesOfMember', 'boss', { ...body, limit: 2 });
    expect(listed.count).toBe(3);
    const next = Object(listed.next).page;
    const rest = await internal('listSpacesOfMember', 'boss', { ...body, limit: 2, page: next });
    const items = [listed.items, rest.items].flat();
    expect(items.map((item) => Object(item).permission)).toEqual(['read', 'read', 'review']);
    await expect(internal('listSpacesOfMember', 'reader', body)).rejects.toMatchObject({ kind: 'forbidden' });
    const all = (await content.call('listSpacesInOrganizationById', boss, { params: organization })).body.count ?? 0;
    const members: { userId: string; role: MemberRole | null; teams: string[] }[] = [
      { userId: 'boss', role: 'admin', teams: [] },
      { ...member, teams: ['t2'] },
      { userId: 'visitor', role: null, teams: [] },
      { userId: 'nobody', role: null, teams: [] },
    ];
    expect(await internal('countSpacesOfMembers', 'boss', { ...organization, members })).toEqual({
      counts: [all, 3, 1, 0],
    });
    expect(await internal('countSpacesOfTeams', 'boss', { ...organization, teams: ['t2', 't9'] })).toEqual({
      counts: [2, 0],
    });
  });

  test('give what an invite link brings, never less than there is', async () => {
    const space = await newSpace();
    const give = (level: MemberRole | null, more: object = { space }) =>
      internal('grantContentAccess', 'guest', { ...organization, userId: 'guest', level, ...more });
    await give('edit');
    await give('read');
    await give(null);
    const params = { spaceId: space };
    expect((await content.call('listUserPermissionsInSpace', boss, { params })).body.items).toMatchObject([
      { permission: 'edit' },
    ]);
    await expect(give('read', { space: 'nothing' })).rejects.toMatchObject({ kind: 'not-found' });
    await expect(give('read', { organizationId: 'o2', space })).rejects.toMatchObject({ kind: 'not-found' });
    await expect(give('read', { space, collection: 'c' })).rejects.toMatchObject({ kind: 'invalid' });
  });
});
