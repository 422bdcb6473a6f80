import { type contentInternalOperations, limits } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import {
  forbidden,
  type HandlersFor,
  invalid,
  listIdentity,
  membershipIn,
  notFound,
  type OperationContext,
  type Principal,
} from '@bindery/service-kit';
import type { Caller, Lens } from '../../access/index.ts';
import { visibleTo } from '../../access/index.ts';
import { presentCollection } from '../../collections/index.ts';
import { type SpaceDocument, subjectOf, topLevel } from '../../space-model/index.ts';
import { countSpaces, listSpaces, presentSpaces } from '../../spaces/index.ts';
import type { PermissionRouteDeps } from '../deps.ts';

type Handlers = HandlersFor<typeof contentInternalOperations>;
const defaultLimit = 50;
/** Different sets of grants that are counted at the same time. */
const parallel = 8;

/** A member as if it asked itself. */
const asMember = (
  organizationId: string,
  member: {
    readonly userId: string;
    readonly role: Principal['organizations'][string]['role'];
    readonly teams: readonly string[];
  },
): Caller => ({
  principal: {
    ...{ kind: 'user', id: member.userId, tokenId: member.userId, instanceAdmin: false },
    organizations: { [organizationId]: { role: member.role, teams: member.teams } },
  },
});

/** Lenses of the organizations of several things, as far as the caller is in them. */
const lensesOf = async (
  { access }: PermissionRouteDeps,
  context: OperationContext,
  organizationIds: Iterable<string>,
): Promise<ReadonlyMap<string, Lens>> => {
  const lenses = new Map<string, Lens>();
  for (const id of new Set(organizationIds))
    if (context.principal.kind === 'service' || membershipIn(context.principal, id) !== undefined)
      lenses.set(id, await access.lens(context, id));
  return lenses;
};

const loadSpaces =
  (deps: PermissionRouteDeps): Handlers['loadSpaces'] =>
  async (context, { body: { ids } }) => {
    const found = [...(await deps.spaces.getMany([...new Set(ids)])).values()].map(({ document }) => document);
    const lenses = await lensesOf(
      deps,
      context,
      found.map(({ organizationId }) => organizationId),
    );
    const visible = new Map<Lens, SpaceDocument[]>();
    for (const space of found) {
      const lens = lenses.get(space.organizationId);
      if (lens === undefined || space.deleted || !lens.describe(space).permissions.view) continue;
      if (space.place !== topLevel && lens.tree.get(space.place) === undefined) continue;
      visible.set(lens, [...(visible.get(lens) ?? []), space]);
    }
    const spaces = [];
    for (const [lens, documents] of visible) spaces.push(...(await presentSpaces(deps, context, lens, documents)));
    return { status: 200, body: { spaces } };
  };

const loadCollections =
  (deps: PermissionRouteDeps): Handlers['loadCollections'] =>
  async (context, { body: { ids } }) => {
    const found = (await Promise.all([...new Set(ids)].map((id) => deps.collections.find(id)))).filter(
      (it) => it !== undefined,
    );
    const lenses = await lensesOf(
      deps,
      context,
      found.map(({ organizationId }) => organizationId),
    );
    const collections = found.flatMap((collection) => {
      const described = lenses.get(collection.organizationId)?.describeCollection(collection);
      if (described === undefined || !described.permissions.view) return [];
      return [presentCollection(context.baseUrl, collection, described.permissions)];
    });
    return { status: 200, body: { collections } };
  };

const listSpacesOfMember =
  (deps: PermissionRouteDeps): Handlers['listSpacesOfMember'] =>
  async (context, { body }) => {
    const { organizationId, userId, role, teams, limit = defaultLimit, page, order = 'desc' } = body;
    const { principal } = context;
    const isAdmin = principal.kind === 'service' || membershipIn(principal, organizationId)?.role === 'admin';
    if (!isAdmin && principal.id !== userId)
      throw forbidden('member.spaces', 'Only administrators may look at the spaces of other members.');
    const [mine, its] = await Promise.all([
      deps.access.lens(context, organizationId),
      deps.access.lens(asMember(organizationId, { userId, role, teams }), organizationId),
    ]);
    const list = listIdentity('listSpacesOfMember', { organizationId, userId, order });
    const request = { limit, list, direction: order, ...(page === undefined ? {} : { page }) };
    const { items, count, next } = await listSpaces(deps.spaces, its.visible, request, deps.cursors);
    const documents = items.map(({ document }) => document);
    const shown = await presentSpaces(deps, context, mine, documents);
    const levels = documents.map((document) => its.describe(document).level);
    const rows = shown.flatMap((space, index) => {
      const permission = levels[index] ?? null;
      return permission === null ? [] : [{ permission, space }];
    });
    return { status: 200, body: { ...(next ? { next } : {}), count, items: rows } };
  };

/** Counts each different set once: most members have no grant of their own, and see the same. */
const counting = (deps: PermissionRouteDeps, organizationId: string) => {
  const known = new Map<string, Promise<number>>();
  const waiting: Promise<number>[] = [];
  return async (who: 'all' | 'member' | 'guest', granted: ReadonlySet<string>): Promise<number> => {
    const key = JSON.stringify([who, who === 'all' ? [] : [...granted].sort()]);
    const found = known.get(key);
    if (found !== undefined) return found;
    while (waiting.length >= parallel) await Promise.race(waiting);
    const counted = deps.collections
      .tree(organizationId)
      .then((tree) => countSpaces(deps.spaces, visibleTo(who, tree, granted)));
    known.set(key, counted);
    waiting.push(counted);
    const forget = () => waiting.splice(waiting.indexOf(counted), 1);
    counted.then(forget, forget);
    return counted;
  };
};

/** What each of these subjects was given in an organization. */
const grantedTo = async (
  { grants }: PermissionRouteDeps,
  organizationId: string,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const granted = new Map<string, string[]>();
  for await (const { subject, resourceId } of grants.of(organizationId, [...new Set(subjects)]))
    granted.set(subject, [...(granted.get(subject) ?? []), resourceId]);
  return granted;
};

const countSpacesOfMembers =
  (deps: PermissionRouteDeps): Handlers['countSpacesOfMembers'] =>
  async (_context, { body: { organizationId, members } }) => {
    const subjectsOf = ({ userId, teams }: (typeof members)[number]) => [
      subjectOf('user', userId),
      ...teams.map((id) => subjectOf('team', id)),
    ];
    const granted = await grantedTo(deps, organizationId, members.flatMap(subjectsOf));
    const count = counting(deps, organizationId);
    const counts = members.map((member) => {
      const who = member.role === 'admin' ? 'all' : member.role === null ? 'guest' : 'member';
      return count(who, new Set(subjectsOf(member).flatMap((subject) => granted.get(subject) ?? [])));
    });
    return { status: 200, body: { counts: await Promise.all(counts) } };
  };

const countSpacesOfTeams =
  (deps: PermissionRouteDeps): Handlers['countSpacesOfTeams'] =>
  async (_context, { body: { organizationId, teams } }) => {
    const subjects = teams.map((id) => subjectOf('team', id));
    const granted = await grantedTo(deps, organizationId, subjects);
    const count = counting(deps, organizationId);
    const counts = subjects.map((subject) => count('guest', new Set(granted.get(subject))));
    return { status: 200, body: { counts: await Promise.all(counts) } };
  };

const grantContentAccess =
  (deps: PermissionRouteDeps): Handlers['grantContentAccess'] =>
  async (context, { body }) => {
    const { organizationId, space, collection, userId, level } = body;
    if ((space === undefined) === (collection === undefined))
      throw invalid('grant.one_resource', 'body: give either space or collection.');
    const resourceId = space ?? collection ?? '';
    const found =
      space === undefined
        ? await deps.collections.find(resourceId)
        : (await deps.spaces.get(resourceId).then((stored) => (stored?.document.deleted ? undefined : stored)))
            ?.document;
    if (found?.organizationId !== organizationId) throw notFound(space === undefined ? 'collection' : 'space');
    if (level === null) return { status: 204 };
    await deps.grantsRepository.handle(
      resourceId,
      {
        type: 'SetGrants',
        data: {
          resource: space === undefined ? 'collection' : 'space',
          resourceId,
          organizationId,
          subjects: [{ kind: 'user', subjectId: userId }],
          level,
          only: 'raise',
          by: context.principal.id,
          at: context.now.toISOString(),
        },
        most: limits.grants.perResource,
      },
      commandMetadata(context, organizationId),
    );
    return { status: 204 };
  };

/** Handlers of what other services ask. */
export const createInternalHandlers = (deps: PermissionRouteDeps): Handlers => ({
  loadSpaces: loadSpaces(deps),
  loadCollections: loadCollections(deps),
  listSpacesOfMember: listSpacesOfMember(deps),
  countSpacesOfMembers: countSpacesOfMembers(deps),
  countSpacesOfTeams: countSpacesOfTeams(deps),
  grantContentAccess: grantContentAccess(deps),
});
