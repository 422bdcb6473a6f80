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

/** Bodies that say more than the smallest one that the schema takes, where that one would be refused before access is looked at. */
const bodies: Readonly<Record<string, (ids: Ids, tag: string) => unknown>> = {
  createUser: (_ids, tag) => ({ email: `matrix-${tag}@example.com`, displayName: 'Matrix' }),
  putOrganizationMember: () => ({ role: 'read' }),
  updateOrganizationById: () => ({ title: 'Matrix', inviteLinks: true }),
};

/**
 * Cells where the table of the contract says less than the operation's description does, with the reason. Kept short: each
 * line is a rule that a reader of docs/api/permissions.md cannot see.
 */
const exceptions: Readonly<Record<string, (principal: Principal, variant: Variant) => Outcome | undefined>> = {};

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
        ids[variant] = { ...idsOf(variant), [name]: id };
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
    const people: Principal[] = [
      { name: 'anonymous', token: '' },
      { name: 'outsider', token: outsider.token },
      { name: 'instance administrator', token: product.token, instanceAdmin: true },
    ];
    for (const role of [null, ...levels]) {
      const person = await register(product, role ?? 'guest');
      await put(person, role);
      people.push({ name: role ?? 'guest', token: person.token, userId: person.id, role });
    }
    const administrator = people.at(-1);
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
      for (const variant of inSpace ? (['open', 'closed'] as const) : (['open'] as const)) {
        const want = (principal: Principal): Outcome =>
          exceptions[operation.id]?.(principal, variant) ?? expected(operation, principal, variant);
        // Those who may not come first: they change nothing, which the ones after them find out.
        for (const principal of [...principals].sort(
          (a, b) => Number(want(a) === 'allowed') - Number(want(b) === 'allowed'),
        )) {
          await provide(operation, variant);
          const answer = await send(operation, principal, variant);
          const outcome = want(principal);
          cells += 1;
          seen[outcome] = (seen[outcome] ?? 0) + 1;
          const missing = parametersOf(operation.path).some((name) => idsOf(variant)[name] === 'missing');
          // Where there is nothing to find, who is let through finds nothing.
          const fine = agrees(outcome, answer.status) || (missing && outcome !== '401' && answer.status === 404);
          if (!fine)
            complaints.push(
              `${operation.id} (${operation.access}, ${variant}) by ${principal.name}: ${answer.status}, expected ${outcome}: ${answer.text.slice(0, 120)}`,
            );
          if (outcome === 'allowed' && mutates(operation) && (operation.method === 'DELETE' || answer.status < 300))
            if (operation.method === 'DELETE') drop(operation, variant);
        }
      }
    }
    const took = Math.round(performance.now() - started);
    process.stdout.write(
      `matrix: ${cells} cells, ${callable.length} operations x ${principals.length} callers, ${JSON.stringify(seen)}, ${took} ms\n`,
    );
    expect(complaints).toEqual([]);
    expect(cells).toBeGreaterThan(1000);
  }, 60_000);
});
