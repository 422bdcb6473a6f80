import { createContract, type OperationDefinition, operations } from '@bindery/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcess, type Person, register, startInProcess } from './in-process.ts';
import { agrees, expected, type Level, levels, type Outcome, type Principal, type Variant } from './matrix-access.ts';
import { contentParameters, fillPath, furnishSpace, type Ids, makers, parametersOf, words } from './matrix-fixtures.ts';
import { type DescribedOperation, readOpenApi, type Schema, sample } from './schemas.ts';
import { type Answer, ok, request, type Target } from './support.ts';

const all: Readonly<Record<string, OperationDefinition>> = operations;
const callable = Object.values(all).filter(({ surface }) => surface !== 'internal');
const mutates = ({ method }: OperationDefinition): boolean => method !== 'GET';
/** Reads first, removals last: what is removed is made anew for the next caller. */
const turn = ({ method }: OperationDefinition): number => (method === 'GET' ? 0 : method === 'DELETE' ? 2 : 1);

/** Whether a path leads to nothing whoever asks. */
const nothingBehind = (name: string, id: string | undefined): boolean =>
  id === 'missing' || (name in words && name !== 'pagePath');

/** Bodies that say more than the smallest one that the schema takes, where that one would be refused before access is looked at. */
const bodies: Readonly<Record<string, (ids: Ids, tag: string) => unknown>> = {
  createUser: (_ids, tag) => ({ email: `matrix-${tag}@example.com`, displayName: 'Matrix' }),
  putOrganizationMember: () => ({ role: 'read' }),
  transferSpace: ({ organizationId }) => ({ organization: organizationId }),
  transferCollection: ({ organizationId }) => ({ organization: organizationId }),
  // Refused for its source, before its space is looked for.
  startImportRun: () => ({
    source: { type: 'website', url: 'http://user:password@example.com/' },
    target: { space: 'missing' },
  }),
  updateOrganizationById: () => ({ title: 'Matrix', inviteLinks: true }),
};

/**
 * Cells where the table of the contract says less than the operation's description does, with the reason. Kept short: each
 * line is a rule that a reader of docs/api/permissions.md cannot see.
 */
const exceptions: Readonly<Record<string, (principal: Principal, byTable: Outcome) => Outcome | undefined>> = {
  // People are visible to those who share an organization with them.
  getUserById: ({ role, instanceAdmin, token }) =>
    role === undefined && !instanceAdmin && token !== '' ? '404' : undefined,
  // An organization that one does not belong to is not there.
  listSSOProviderLoginsInOrganization: ({ role, token }) => (role === undefined && token !== '' ? '404' : undefined),
  // The copy needs a right in the organization beside that on the space.
  duplicateSpace: ({ role }, byTable) =>
    byTable === 'allowed' && role !== 'create' && role !== 'admin' ? '403' : undefined,
  // Imports are seen by those who may view their space, and cancelled by those who may edit it.
  getImportRun: ({ role }) => (role === null ? '404' : undefined),
  cancelImportRun: ({ role, scopes }, byTable) =>
    scopes !== undefined || byTable !== 'allowed'
      ? undefined
      : role === null
        ? '404'
        : role === 'read' || role === 'comment'
          ? '403'
          : undefined,
  // Guests see no member but themselves; where others are, only administrators see.
  getMemberInOrganizationById: ({ role }) => (role === null ? '403' : undefined),
  listSpacesForOrganizationMember: ({ role }) => (role !== undefined && role !== 'admin' ? '403' : undefined),
  listTeamsForOrganizationMember: ({ role }) => (role === null ? '403' : undefined),
};

/** Operations on what a fresh space does not have: who is let through finds nothing. */
const onNothing: ReadonlySet<string> = new Set(['getSpaceGitInfo']);

/** Operations by which callers get into the organization: they are put out again. */
const letsIn: ReadonlySet<string> = new Set(['joinOrganization', 'joinOrganizationWithInvite']);

describe('the access of every operation', () => {
  let product: InProcess;
  let owner: Person;
  let aim: Person;
  let organizationId: string;
  let principals: readonly Principal[];
  let described: ReadonlyMap<string, DescribedOperation>;
  let resolve: (schema: Schema) => Schema;
  const ids: Partial<Record<Variant, Ids>> = {};
  let count = 0;
  let team = '';
  const granted = new Set<string>();

  const idsOf = (variant: Variant): Ids => ids[variant] ?? {};

  /** Makes what the path of an operation names and is not there. */
  const provide = async (operation: OperationDefinition, variant: Variant): Promise<void> => {
    for (const name of parametersOf(operation.path)) {
      if (idsOf(variant)[name] !== undefined) continue;
      if ((contentParameters as readonly string[]).includes(name) || name === 'spaceId') {
        count += 1;
        const made = await furnishSpace(owner, organizationId, `Matrix ${count}`);
        if (variant === 'closed') await ok(owner, 'PATCH', `/v1/spaces/${made.spaceId}`, { defaultLevel: null });
        ids[variant] = { ...idsOf(variant), ...made };
      } else {
        const maker = makers[name];
        if (maker === undefined) throw new Error(`${operation.id}: no fixture for {${name}}`);
        count += 1;
        const id = await maker(owner, idsOf(variant), `${count}`);
        if (name === 'collectionId' && variant === 'closed')
          await ok(owner, 'PATCH', `/v1/collections/${id}`, { defaultLevel: null });
        ids[variant] = { ...idsOf(variant), [name]: id };
      }
    }
    if (operation.path.endsWith('{userId}') && mutates(operation))
      await ok(product, 'PUT', `/admin/v1/orgs/${organizationId}/members/${aim.id}`, { role: 'read' });
    // Anew each time: some of the operations take them away.
    const around = /\{(space|collection)Id\}/.exec(operation.path)?.[1];
    if (around !== undefined) {
      const key = `${around} ${idsOf(variant)[`${around}Id`]}`;
      if (!granted.has(key) || operation.path.includes('/permissions')) {
        granted.add(key);
        await grant(`/v1/${around}s/${idsOf(variant)[`${around}Id`]}/permissions`, variant);
      }
    }
  };

  /** Forgets what an operation may have removed: the last resource of its path, and all of a space with the space. */
  const drop = (operation: OperationDefinition, variant: Variant): void => {
    const last = parametersOf(operation.path).at(-1);
    if (last === undefined) return;
    const { organizationId: org = '', userId = '' } = idsOf(variant);
    if (last === 'spaceId') ids[variant] = { ...words, organizationId: org, userId };
    else if (last !== 'organizationId' && last !== 'userId' && !(last in words)) {
      const { [last]: _gone, ...rest } = idsOf(variant);
      ids[variant] = rest;
    }
  };

  /** Whether what an operation removes is there for its owner. Without a read of the same address: the grant is in its list. */
  const isThere = async ({ path }: OperationDefinition, variant: Variant): Promise<boolean> => {
    if (callable.some((other) => other.method === 'GET' && other.path === path))
      return (await request(owner, 'GET', `/v1${fillPath(path, idsOf(variant))}`)).status === 200;
    const list = path.replace(/\/\{\w+\}$/, '');
    const last = parametersOf(path).at(-1) ?? '';
    if (!list.includes('/permissions/')) return true;
    return (await request(owner, 'GET', `/v1${fillPath(list, idsOf(variant))}`)).text.includes(
      idsOf(variant)[last] ?? '',
    );
  };

  /** Gives what the callers with grants and the operations on grants need. */
  const grant = async (path: string, variant: Variant): Promise<void> => {
    const { teamId } = idsOf(variant);
    await ok(product, 'PUT', `/admin/v1/orgs/${organizationId}/members/${aim.id}`, { role: 'read' });
    const direct = principals.filter(({ given }) => given === 'direct').map(({ userId = '' }) => userId);
    await ok(owner, 'POST', path, { role: 'edit', users: [...direct, aim.id] });
    await ok(owner, 'POST', path, { role: 'comment', teams: [team, ...(teamId === undefined ? [] : [teamId])] });
  };

  /** Puts a caller back to where it belongs. */
  const restore = async ({ userId, role }: Principal): Promise<void> => {
    if (userId === undefined) return;
    const path = `/orgs/${organizationId}/members/${userId}`;
    if (role === undefined) await request(owner, 'DELETE', `/v1${path}`);
    else await ok(product, 'PUT', `/admin/v1${path}`, { role });
  };

  const send = async (operation: OperationDefinition, principal: Principal, variant: Variant): Promise<Answer> => {
    const description = described.get(operation.id);
    count += 1;
    const query = (description?.parameters ?? [])
      .filter((one) => one.in === 'query' && one.name === 'query')
      .map(() => '?query=word')
      .join('');
    const body =
      bodies[operation.id]?.(idsOf(variant), `${count}`) ??
      (description?.body === undefined ? undefined : sample(description.body, resolve));
    const prefix = operation.surface === 'admin' ? '/admin/v1' : '/v1';
    return request(
      { url: product.url, token: principal.token },
      operation.method,
      `${prefix}${fillPath(operation.path, idsOf(variant))}${query}`,
      {
        ...(body === undefined || operation.method === 'GET' ? {} : { body }),
        ...(principal.token === '' ? { headers: { authorization: '' } } : {}),
      },
    );
  };

  beforeAll(async () => {
    product = await startInProcess();
    const read = (await request(product, 'GET', '/openapi.json')).body as Parameters<typeof readOpenApi>[0];
    const openApi = readOpenApi(read);
    resolve = openApi.resolve;
    described = new Map(openApi.operations.map((operation) => [operation.id, operation]));
    owner = await register(product, 'owner');
    organizationId = (await ok<{ id: string }>(owner, 'POST', '/v1/orgs', { title: 'Matrix' })).id;
    await ok(owner, 'PATCH', `/v1/orgs/${organizationId}`, { inviteLinks: true });
    aim = await register(product, 'aim');
    const put = (who: Person, role: Level | null) =>
      ok(product, 'PUT', `/admin/v1/orgs/${organizationId}/members/${who.id}`, { role });
    await put(aim, 'read');
    const outsider = await register(product, 'outsider');
    await ok(outsider, 'POST', '/v1/orgs', { title: 'Outside' });
    const me = await ok<{ id: string }>(product, 'GET', '/v1/user');
    const people: Principal[] = [
      { name: 'anonymous', token: '' },
      { name: 'outsider', token: outsider.token, userId: outsider.id },
      { name: 'instance administrator', token: product.token, userId: me.id, instanceAdmin: true },
    ];
    for (const role of [null, ...levels]) {
      const person = await register(product, role ?? 'guest');
      await put(person, role);
      people.push({ name: role ?? 'guest', token: person.token, userId: person.id, role });
    }
    const administrator = people.at(-1);
    for (const [name, level] of [
      ['direct', 'edit'],
      ['team', 'comment'],
    ] as const) {
      const person = await register(product, `guest-with-${name}-grant`);
      await put(person, null);
      people.push({
        name: `guest with a ${name} grant`,
        token: person.token,
        userId: person.id,
        role: null,
        grant: level,
        given: name,
      });
      if (name === 'direct') continue;
      team = (await ok<{ id: string }>(owner, 'PUT', `/v1/orgs/${organizationId}/teams`, { title: 'Granted' })).id;
      await ok(owner, 'PUT', `/v1/orgs/${organizationId}/teams/${team}/members/${person.id}`, {});
    }
    const scoped = async (name: string, scopes: readonly string[]): Promise<void> => {
      const by: Target = { url: product.url, token: administrator?.token ?? '' };
      const { token } = await ok<{ token: string }>(by, 'POST', '/v1/user/tokens', { name, scopes });
      people.push({ name, token, role: 'admin', scopes });
    };
    const everyScope = [...new Set(callable.flatMap(({ scope }) => (scope === undefined ? [] : [scope])))];
    await scoped('administrator with every scope', everyScope);
    await scoped('administrator with another scope', ['integration:delete']);
    principals = people;
    for (const variant of ['open', 'closed'] as const) ids[variant] = { ...words, organizationId, userId: aim.id };
  });
  afterAll(() => product.remove());

  test('has a fixture for every parameter, and a rule for every kind of access', () => {
    createContract(operations);
    const known = new Set([...Object.keys(makers), ...Object.keys(words), ...contentParameters, 'organizationId']);
    const missing = callable.flatMap(({ id, path }) =>
      parametersOf(path)
        .filter((name) => !known.has(name))
        .map((name) => `${id}: {${name}}`),
    );
    expect(missing).toEqual([]);
  });

  test('is what the table says, for every kind of caller', async () => {
    const complaints: string[] = [];
    const seen: Record<string, number> = {};
    let cells = 0;
    const started = performance.now();
    for (const operation of [...callable].sort((a, b) => turn(a) - turn(b))) {
      const inSpace = /\{(space|collection)Id\}/.test(operation.path);
      const checkAll = async (variant: Variant): Promise<void> => {
        const want = (principal: Principal): Outcome => {
          const byTable = expected(operation, principal, variant);
          return exceptions[operation.id]?.(principal, byTable) ?? byTable;
        };
        const untouched: string[] = [];
        const check = async (principal: Principal): Promise<void> => {
          const outcome = want(principal);
          const nothing =
            onNothing.has(operation.id) ||
            parametersOf(operation.path).some((name) => nothingBehind(name, idsOf(variant)[name]));
          const answer = await send(operation, principal, variant);
          cells += 1;
          seen[outcome] = (seen[outcome] ?? 0) + 1;
          // Where there is nothing to find, who is let through finds nothing.
          // Removing what one cannot see is like removing what is not there; that it is untouched is looked at below.
          if (operation.method === 'DELETE' && outcome === '404' && answer.status === 204) {
            untouched.push(principal.name);
            return;
          }
          if (agrees(outcome, answer.status) || (nothing && outcome !== '401' && answer.status === 404)) return;
          complaints.push(
            `${operation.id} (${operation.access}, ${variant}) by ${principal.name}: ${answer.status}, expected ${outcome}: ${answer.text.slice(0, 120)}`,
          );
        };
        await provide(operation, variant);
        // Those who may not come first, all at once: they change nothing, which the ones after them find out.
        const changes = (principal: Principal): boolean => mutates(operation) && want(principal) === 'allowed';
        await Promise.all(principals.filter((principal) => !changes(principal)).map(check));
        if (untouched.length > 0 && !(await isThere(operation, variant)))
          complaints.push(`${operation.id} (${variant}): removed by one of ${untouched.join(', ')}`);
        for (const principal of principals.filter(changes)) {
          await provide(operation, variant);
          await check(principal);
          if (operation.method === 'DELETE') drop(operation, variant);
          if (letsIn.has(operation.id)) await restore(principal);
        }
      };
      await Promise.all((inSpace ? (['open', 'closed'] as const) : (['open'] as const)).map(checkAll));
    }
    const took = Math.round(performance.now() - started);
    process.stdout.write(
      `matrix: ${cells} cells, ${callable.length} operations x ${principals.length} callers, ${JSON.stringify(seen)}, ${took} ms\n`,
    );
    const foreign = callable.filter(
      ({ access, path }) => /^(organization|team|space|collection|comment):/.test(access) && path.includes('{'),
    );
    process.stdout.write(`cross-tenant: ${foreign.length} operations with the ids of another organization\n`);
    expect(complaints).toEqual([]);
    expect(cells).toBeGreaterThan(1000);
  }, 180_000);
});
