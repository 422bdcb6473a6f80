import { type MemberRole, memberRoles, roleRank } from '@bindery/service-kit';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { publish, startContent, type TestContent } from '../../testing.ts';
import { type Directory, identityOf, principalOf } from './testing.ts';

type Default = MemberRole | null | 'inherit';

/** What the tests believe: written down plainly, computed from scratch for every question. */
interface Model {
  readonly collections: Map<string, { parent: string | null; default: Default }>;
  readonly spaces: Map<string, { parent: string | null; default: Default }>;
  /** `resource subject` to level. */
  readonly grants: Map<string, MemberRole>;
}

const organizationId = 'o1';
const teams = ['t0', 't1'];
const directory: Directory = {
  o1: {
    boss: { role: 'admin', teams: [] },
    u0: { role: null, teams: ['t0'] },
    u1: { role: 'read', teams: ['t1'] },
    u2: { role: 'create', teams: [] },
  },
};
const users = ['u0', 'u1', 'u2', 'u3'];
let content: TestContent;
const boss = () => principalOf(directory, 'boss');

beforeAll(async () => {
  content = await startContent({ services: identityOf(directory, teams) });
});
afterAll(() => content.stop());

/** DESIGN section 7, said a second time: walk up from the resource. */
const naiveLevel = (model: Model, kind: 'space' | 'collection', id: string, userId: string): MemberRole | null => {
  const member = directory.o1?.[userId];
  if (member === undefined) return null;
  if (member.role === 'admin') return 'admin';
  const path: { id: string; default: Default }[] = [];
  let at: string | null = id;
  if (kind === 'space') {
    const space = model.spaces.get(id) ?? { parent: null, default: null };
    path.push({ id, default: space.default });
    at = space.parent;
  }
  while (at !== null) {
    const collection: { parent: string | null; default: Default } | undefined = model.collections.get(at);
    path.push({ id: at, default: collection?.default ?? null });
    at = collection?.parent ?? null;
  }
  const candidates: (MemberRole | null)[] = [];
  for (const step of path)
    for (const subject of [`user:${userId}`, ...member.teams.map((team) => `team:${team}`)])
      candidates.push(model.grants.get(`${step.id} ${subject}`) ?? null);
  if (member.role !== null) {
    const said = path.find((step) => step.default !== 'inherit');
    candidates.push(said === undefined ? member.role : said.default === 'inherit' ? null : said.default);
  }
  return candidates.reduce<MemberRole | null>((best, it) => (roleRank(it) > roleRank(best) ? it : best), null);
};

const role = fc.constantFrom<MemberRole | null>(...memberRoles.filter((it) => it !== 'admin'), null);
const anyDefault = fc.constantFrom<Default>('inherit', 'inherit', null, 'read', 'edit', 'admin');
const index = fc.nat(20);
const grantStep = fc.record({
  kind: fc.constant('grant' as const),
  at: index,
  to: fc.constantFrom('user', 'team'),
  who: index,
  level: fc.constantFrom<MemberRole | null>('read', 'comment', 'edit', 'admin', null),
});
const step = fc.oneof(
  grantStep,
  grantStep,
  fc.record({ kind: fc.constant('collection-default' as const), at: index, to: anyDefault }),
  fc.record({ kind: fc.constant('space-default' as const), at: index, to: anyDefault }),
  fc.record({ kind: fc.constant('move-collection' as const), at: index, under: index }),
  fc.record({ kind: fc.constant('move-space' as const), at: index, under: index }),
  fc.record({ kind: fc.constant('member' as const), who: index, role, teams: fc.subarray(teams) }),
  fc.record({ kind: fc.constant('leave' as const), who: index }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const pick = <T>(items: readonly T[], at: number): T => {
  const found = items[at % items.length];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
};

const apply = async (model: Model, it: Step): Promise<void> => {
  const collections = [...model.collections.keys()];
  const spaces = [...model.spaces.keys()];
  switch (it.kind) {
    case 'collection-default': {
      const collectionId = pick(collections, it.at);
      await content.call('updateCollectionById', boss(), { params: { collectionId }, body: { defaultLevel: it.to } });
      const known = model.collections.get(collectionId);
      if (known) known.default = it.to;
      return;
    }
    case 'space-default': {
      const spaceId = pick(spaces, it.at);
      await content.call('updateSpaceById', boss(), { params: { spaceId }, body: { defaultLevel: it.to } });
      const known = model.spaces.get(spaceId);
      if (known) known.default = it.to;
      return;
    }
    case 'move-collection': {
      const collectionId = pick(collections, it.at);
      const parent = pick([null, ...collections], it.under);
      const { status } = await content.call('moveCollection', boss(), { params: { collectionId }, body: { parent } });
      const known = model.collections.get(collectionId);
      if (status === 200 && known) known.parent = parent;
      return;
    }
    case 'move-space': {
      const spaceId = pick(spaces, it.at);
      const parent = pick([null, ...collections], it.under);
      const { status } = await content.call('moveSpace', boss(), { params: { spaceId }, body: { parent } });
      const known = model.spaces.get(spaceId);
      if (status === 200 && known) known.parent = parent;
      return;
    }
    case 'grant': {
      const onSpace = it.at % 2 === 0;
      const id = onSpace ? pick(spaces, it.at) : pick(collections, it.at);
      const who = it.to === 'user' ? pick(users, it.who) : pick(teams, it.who);
      const body = { role: it.level, [`${it.to}s`]: [who] };
      const { status } = onSpace
        ? await content.call('inviteToSpace', boss(), { params: { spaceId: id }, body })
        : await content.call('inviteToCollection', boss(), { params: { collectionId: id }, body });
      if (status !== 204) return;
      if (it.level === null) model.grants.delete(`${id} ${it.to}:${who}`);
      else model.grants.set(`${id} ${it.to}:${who}`, it.level);
      return;
    }
    case 'member':
      directory.o1 = { ...directory.o1, [pick(users, it.who)]: { role: it.role, teams: it.teams } };
      return;
    default: {
      const { [pick(users, it.who)]: _, ...others } = directory.o1 ?? {};
      directory.o1 = others;
    }
  }
};

/** Every list and search shows exactly what a look at each thing shows, and that is what the model says. */
const check = async (model: Model): Promise<void> => {
  for (const userId of users) {
    const who = principalOf(directory, userId);
    const visible: string[] = [];
    for (const spaceId of model.spaces.keys()) {
      const level = naiveLevel(model, 'space', spaceId, userId);
      const { status, body } = await content.call('getSpaceById', who, { params: { spaceId } });
      expect({ spaceId, userId, status }).toEqual({ spaceId, userId, status: level === null ? 404 : 200 });
      if (level === null) continue;
      visible.push(spaceId);
      const { edit, review, admin, comment } = body.permissions;
      const has = (need: MemberRole) => roleRank(level) >= roleRank(need);
      expect({ comment, edit, review, admin }).toEqual({
        comment: has('comment'),
        edit: has('edit'),
        review: has('review'),
        admin: has('admin'),
      });
    }
    const shown: string[] = [];
    for (const collectionId of model.collections.keys()) {
      const level = naiveLevel(model, 'collection', collectionId, userId);
      const { status } = await content.call('getCollectionById', who, { params: { collectionId } });
      expect({ collectionId, userId, status }).toEqual({ collectionId, userId, status: level === null ? 404 : 200 });
      if (level === null) continue;
      shown.push(collectionId);
      const inside = await content.call('listSpacesInCollectionById', who, { params: { collectionId } });
      const expected = visible.filter((id) => model.spaces.get(id)?.parent === collectionId);
      expect(inside.body.items.map(({ id }) => id).sort()).toEqual(expected.sort());
      expect(inside.body.count).toBe(expected.length);
    }
    if (directory.o1?.[userId] === undefined) continue;
    const params = { organizationId };
    const listed: string[] = [];
    const page = async (query: object): Promise<string | undefined> => {
      const { body } = await content.call('listSpacesInOrganizationById', who, {
        params,
        query: { limit: 4, ...query },
      });
      expect(body.count).toBe(visible.length);
      listed.push(...body.items.map(({ id }) => id));
      return body.next?.page;
    };
    for (let next = await page({}); next !== undefined; ) next = await page({ page: next });
    expect([...listed].sort()).toEqual([...visible].sort());
    const collections = await content.call('listCollectionsInOrganizationById', who, { params });
    expect(collections.body.items.map(({ id }) => id).sort()).toEqual(shown.sort());
    const query = { query: 'everywhere' };
    const found = await content.call('searchOrganizationContent', who, { params, query });
    expect(found.body.items.map(({ id }) => id).sort()).toEqual([...visible].sort());
    const requests = await content.call('listChangeRequestsForOrganization', who, { params });
    expect(new Set(requests.body.items.map(({ space }) => space))).toEqual(new Set(visible));
  }
};

test('levels, lists and searches agree with a plain model of the rules', async () => {
  const model: Model = { collections: new Map(), spaces: new Map(), grants: new Map() };
  const params = { organizationId };
  for (let n = 0; n < 5; n += 1) {
    const parent = n % 2 === 0 ? null : ([...model.collections.keys()][n - 1] ?? null);
    const within = parent === null ? {} : { parent };
    const { body } = await content.call('createCollection', boss(), { params, body: { title: `c${n}`, ...within } });
    model.collections.set(body.id, { parent, default: 'inherit' });
  }
  for (let n = 0; n < 7; n += 1) {
    const parent = [...model.collections.keys()][n] ?? null;
    const within = { empty: true, title: `s${n}`, ...(parent === null ? {} : { parent }) };
    const { body } = await content.call('createSpace', boss(), { params, body: within });
    model.spaces.set(body.id, { parent, default: 'inherit' });
    const page = { operation: 'insert_page', title: `Page ${n}`, document: { markdown: 'Everywhere.' } };
    await publish(content, boss(), body.id, [page]);
    await content.call('createChangeRequest', boss(), { params: { spaceId: body.id }, body: { subject: 'Open' } });
  }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      for (const it of steps) await apply(model, it);
      await check(model);
    }),
    { numRuns: Number(process.env.ACCESS_MODEL_RUNS ?? 4), endOnFailure: true },
  );
}, 600_000);
