import { type Running, startProduct } from '@bindery/testing/product';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Attempt, attemptsOn, type DescribedOperation, readOpenApi, type Schema, sample } from './schemas.ts';
import { type Answer, ok, request, type Target } from './support.ts';

interface Fixture {
  readonly organizationId: string;
  readonly spaceId: string;
  readonly changeRequestId: string;
  readonly pageId: string;
  readonly fileId: string;
  readonly documentId: string;
  readonly revisionId: string;
  readonly userId: string;
}

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** An organization with everything in it that the operations address. */
const furnish = async (target: Target, organizationId: string, userId: string): Promise<Fixture> => {
  const space = await ok<{ id: string }>(target, 'POST', `/v1/orgs/${organizationId}/spaces`, { title: 'Furnished' });
  const change = await ok<{ id: string }>(target, 'POST', `/v1/spaces/${space.id}/change-requests`, {
    subject: 'Furnish',
  });
  const edited = await ok<{ changes: { page: { id: string } }[]; insertedFiles: { id: string }[] }>(
    target,
    'POST',
    `/v1/spaces/${space.id}/change-requests/${change.id}/content?compat=false`,
    {
      changes: [
        { operation: 'insert_files', files: [{ base64: pixel, name: 'pixel.png', contentType: 'image/png' }] },
        { operation: 'insert_page', title: 'Secret page', document: { markdown: 'Secret marker 4711' } },
      ],
    },
  );
  const merged = await ok<{ revision: string }>(
    target,
    'POST',
    `/v1/spaces/${space.id}/change-requests/${change.id}/merge`,
  );
  const open = await ok<{ id: string }>(target, 'POST', `/v1/spaces/${space.id}/change-requests`, {
    subject: 'Still open',
  });
  const pageId = edited.changes[0]?.page.id ?? '';
  const page = await ok<{ documentId?: string }>(target, 'GET', `/v1/spaces/${space.id}/content/page/${pageId}`);
  return {
    organizationId,
    spaceId: space.id,
    changeRequestId: open.id,
    pageId,
    fileId: edited.insertedFiles[0]?.id ?? '',
    documentId: page.documentId ?? 'none',
    revisionId: merged.revision,
    userId,
  };
};

const fill = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replaceAll(/\{([^}*]+)\*?\}/g, (_whole, name: string) =>
    encodeURIComponent(values[name] ?? (name === 'pagePath' ? 'secret-page' : 'missing')),
  );

/** What must be true of any answer to a bad request. */
const complaint = (where: string, answer: Answer, expected: Attempt['expected']): string | undefined => {
  if (answer.status >= 500) return `${where}: ${answer.status} ${answer.text.slice(0, 200)}`;
  if (answer.status < 400) return expected === 'refused' ? `${where}: was taken with ${answer.status}` : undefined;
  const { error } = (answer.body ?? {}) as { error?: { code?: unknown; message?: unknown } };
  if (error?.code !== answer.status || typeof error.message !== 'string' || error.message.length < 3)
    return `${where}: no error envelope in ${answer.text.slice(0, 200)}`;
  return undefined;
};

describe('bad input, made from the contract', () => {
  let product: Running;
  let operations: readonly DescribedOperation[];
  let resolve: (schema: Schema) => Schema;
  let mine: Fixture;
  let foreign: Fixture;
  let stranger: Target;

  beforeAll(async () => {
    product = await startProduct();
    const document = (await request(product, 'GET', '/openapi.json')).body as Parameters<typeof readOpenApi>[0];
    ({ operations, resolve } = readOpenApi(document));
    // Operations on a user or a member aim at somebody else than the one who asks.
    const aim = await ok<{ id: string }>(product, 'POST', '/admin/v1/users', {
      email: 'aim@example.com',
      displayName: 'Aim',
    });
    const organizations = await ok<{ items: { id: string }[] }>(product, 'GET', '/v1/orgs');
    mine = await furnish(product, organizations.items[0]?.id ?? '', aim.id);
    const user = await ok<{ id: string }>(product, 'POST', '/admin/v1/users', {
      email: 'stranger@example.com',
      displayName: 'Stranger',
    });
    const token = await ok<{ token: string }>(product, 'POST', `/admin/v1/users/${user.id}/tokens`, {});
    stranger = { url: product.url, token: token.token };
    const theirs = await ok<{ id: string }>(stranger, 'POST', '/v1/orgs', { title: 'Elsewhere' });
    foreign = await furnish(stranger, theirs.id, user.id);
  });
  afterAll(async () => {
    await product.stop();
  });

  test('every field of every body: wrong types, null, limits, unicode, unknown fields', async () => {
    const complaints: string[] = [];
    let tried = 0;
    for (const operation of operations) {
      if (operation.body === undefined) continue;
      const body = resolve(operation.body);
      const path = fill(operation.path, { ...mine });
      const good = sample(body, resolve);
      const send = async (what: string, value: unknown, expected: Attempt['expected']): Promise<void> => {
        tried += 1;
        const problem = complaint(
          `${operation.id} with ${what}`,
          await request(product, operation.method, path, { body: value }),
          expected,
        );
        if (problem !== undefined) complaints.push(problem);
      };
      for (const [what, value] of [
        ['a string body', 'text'],
        ['a number body', 7],
        ['an array body', []],
      ] as const)
        await send(what, value, Array.isArray(value) && body.type === 'array' ? 'answered' : 'refused');
      for (const [name, field] of Object.entries(body.properties ?? {}))
        for (const attempt of attemptsOn(field, resolve))
          await send(
            `body.${name} = ${attempt.what}`,
            { ...(good as object), [name]: attempt.value },
            attempt.expected,
          );
      if (body.additionalProperties === false)
        await send('an unknown field', { ...(good as object), unknownField: 1 }, 'refused');
      for (const name of body.required ?? [])
        await send(
          `no body.${name}`,
          Object.fromEntries(Object.entries(good as object).filter(([key]) => key !== name)),
          'refused',
        );
    }
    expect(complaints).toEqual([]);
    expect(tried).toBeGreaterThan(300);
  }, 120_000);

  test('every query parameter and path parameter: wrong words, forged cursors, limits', async () => {
    const complaints: string[] = [];
    for (const operation of operations) {
      if (operation.method !== 'GET') continue;
      const path = fill(operation.path, { ...mine });
      const required = operation.parameters
        .filter((one) => one.in === 'query' && one.name === 'query')
        .map(() => 'query=word');
      const send = async (query: string, expected: Attempt['expected']): Promise<void> => {
        const problem = complaint(
          `${operation.id} ?${query.slice(0, 80)}`,
          await request(product, 'GET', `${path}?${[...required, query].join('&')}`),
          expected,
        );
        if (problem !== undefined) complaints.push(problem);
      };
      for (const parameter of operation.parameters) {
        if (parameter.in === 'path') {
          for (const value of [
            '%00',
            '..%2f..',
            'a'.repeat(500),
            '%F0%9F%92%A9',
            '__proto__',
            '%ff',
            '-1',
            "'",
            '%25',
          ]) {
            const bad = fill(operation.path.replace(new RegExp(`\\{${parameter.name}\\*?\\}`), '~~~'), {
              ...mine,
            }).replace('~~~', value);
            const problem = complaint(
              `${operation.id} with ${parameter.name} ${value.slice(0, 20)}`,
              await request(product, 'GET', `${bad}?${required.join('&')}`),
              'refused',
            );
            if (problem !== undefined && !problem.includes('was taken')) complaints.push(problem);
          }
          continue;
        }
        if (parameter.in !== 'query') continue;
        const closed =
          resolve(parameter.schema).enum !== undefined ||
          resolve(parameter.schema).type === 'integer' ||
          resolve(parameter.schema).type === 'boolean';
        await send(`${encodeURIComponent(parameter.name)}=%00%F0%9F%92%A9`, closed ? 'refused' : 'answered');
        await send(`${encodeURIComponent(parameter.name)}=${'z'.repeat(2000)}`, closed ? 'refused' : 'answered');
        await send(`${encodeURIComponent(parameter.name)}=a&${encodeURIComponent(parameter.name)}=b`, 'answered');
        if (parameter.name === 'limit')
          for (const value of ['-1', '1001', '1.5', 'NaN', '1e9']) await send(`limit=${value}`, 'refused');
        if (parameter.name === 'page')
          for (const value of ['forged', 'eyJhIjoxfQ', '../..', 'A'.repeat(900)])
            await send(`page=${value}`, 'refused');
      }
    }
    expect(complaints).toEqual([]);
  }, 120_000);

  test('a cursor of one list is refused by another, and by the same list with other filters', async () => {
    const cursors: { path: string; page: string }[] = [];
    for (let n = 0; n < 3; n += 1)
      await ok(product, 'POST', `/v1/orgs/${mine.organizationId}/spaces`, { title: `More ${n}` });
    for (let n = 0; n < 3; n += 1)
      await ok(product, 'POST', `/v1/spaces/${mine.spaceId}/change-requests`, { subject: `More ${n}` });
    const lists = [
      `/v1/orgs/${mine.organizationId}/spaces`,
      `/v1/spaces/${mine.spaceId}/change-requests`,
      `/v1/orgs/${mine.organizationId}/change-requests`,
    ];
    for (const path of lists) {
      const first = await ok<{ next?: { page: string } }>(product, 'GET', `${path}?limit=1`);
      expect(first.next).toBeDefined();
      cursors.push({ path, page: first.next?.page ?? '' });
    }
    for (const { path, page } of cursors)
      for (const other of lists)
        expect([
          path,
          other,
          (await request(product, 'GET', `${other}?limit=1&page=${encodeURIComponent(page)}`)).status,
        ]).toEqual([path, other, path === other ? 200 : 400]);
    const { page } = cursors[1] ?? { page: '' };
    expect(
      (await request(product, 'GET', `${lists[1]}?limit=1&status=merged&page=${encodeURIComponent(page)}`)).status,
    ).toBe(400);
  });

  test('every operation with ids of another organization: nothing is seen, nothing is done', async () => {
    const before = (await request(stranger, 'GET', `/v1/spaces/${foreign.spaceId}`)).text;
    const complaints: string[] = [];
    // A second, plain member asks for what belongs to the stranger's organization.
    const user = await ok<{ id: string }>(product, 'POST', '/admin/v1/users', {
      email: 'member@example.com',
      displayName: 'Member',
    });
    await ok(product, 'PUT', `/admin/v1/orgs/${mine.organizationId}/members/${user.id}`, { role: 'admin' });
    const { token } = await ok<{ token: string }>(product, 'POST', `/admin/v1/users/${user.id}/tokens`, {});
    const member: Target = { url: product.url, token };
    let walked = 0;
    for (const operation of operations) {
      if (!/\{/.test(operation.path)) continue;
      walked += 1;
      const required = operation.parameters.some((one) => one.in === 'query' && one.name === 'query')
        ? '?query=secret'
        : '';
      const body = operation.body === undefined ? undefined : sample(operation.body, resolve);
      const answer = await request(
        member,
        operation.method,
        `${fill(operation.path, { ...foreign })}${required}`,
        body === undefined ? {} : { body },
      );
      const harmlessDelete = operation.method === 'DELETE' && answer.status === 204;
      if (!harmlessDelete && ![400, 403, 404].includes(answer.status))
        complaints.push(`${operation.id}: ${answer.status} ${answer.text.slice(0, 200)}`);
      if (answer.text.includes('4711') || answer.text.includes('stranger@example.com'))
        complaints.push(`${operation.id} leaks: ${answer.text.slice(0, 200)}`);
      // My own path with one foreign id in it.
      if (
        operation.path.includes('{spaceId}') &&
        /pageId|fileId|documentId|revisionId|changeRequestId/.test(operation.path) &&
        operation.method === 'GET'
      ) {
        const mixed = await request(
          member,
          'GET',
          `${fill(operation.path, { ...foreign, spaceId: mine.spaceId })}${required}`,
        );
        if (mixed.status < 400 || mixed.text.includes('4711'))
          complaints.push(`${operation.id} with a foreign id below my own space: ${mixed.status}`);
      }
    }
    expect(complaints).toEqual([]);
    expect(walked).toBeGreaterThan(40);
    expect((await request(stranger, 'GET', `/v1/spaces/${foreign.spaceId}`)).text).toBe(before);
    const found = await ok<{ items: unknown[] }>(
      member,
      'GET',
      `/v1/orgs/${mine.organizationId}/search?query=elsewhere`,
    );
    expect(found.items).toEqual([]);
  }, 60_000);

  test('20 writers on one resource: no lost update, numbers without gaps', async () => {
    const space = await ok<{ id: string }>(product, 'POST', `/v1/orgs/${mine.organizationId}/spaces`, {
      title: 'Contended',
      empty: true,
    });
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        ok<{ number: number; id: string }>(product, 'POST', `/v1/spaces/${space.id}/change-requests`, {
          subject: `Writer ${n}`,
        }),
      ),
    );
    expect(created.map((one) => one.number).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    const shared = created[0]?.id ?? '';
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        ok(product, 'POST', `/v1/spaces/${space.id}/change-requests/${shared}/content`, {
          changes: [{ operation: 'insert_page', title: `Page ${n}`, document: { markdown: `By writer ${n}` } }],
        }),
      ),
    );
    const { pages } = await ok<{ pages: { title: string }[] }>(
      product,
      'GET',
      `/v1/spaces/${space.id}/change-requests/${shared}/content/pages`,
    );
    expect(new Set(pages.map((page) => page.title)).size).toBe(20);

    const current = await request(product, 'GET', `/v1/spaces/${space.id}`);
    const etag = current.headers.get('etag') ?? '';
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        request(product, 'PATCH', `/v1/spaces/${space.id}`, {
          body: { title: `Title ${n}` },
          headers: { 'if-match': etag },
        }),
      ),
    );
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 412)).toHaveLength(19);
  });
});
