import { describe, expect, test } from '@jest/globals';
import Type from 'typebox';
import { component, embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, nullable, paging, words } from '../kit/schema.ts';
import { operations } from '../operations.ts';
import { createContract } from './contract.ts';
import { sentence } from './violation.ts';

component('TestUser', closed({ object: Type.Literal('user'), id: Type.String() }));
const Person = () => embedded('user', 'TestUser');
const Insert = component(
  'TestInsert',
  closed({ operation: Type.Literal('insert'), title: Type.String({ minLength: 1, maxLength: 5 }) }),
);
const Remove = component('TestRemove', closed({ operation: Type.Literal('remove'), page: Id() }));
const Thing = component(
  'TestThing',
  closed({
    id: Type.String(),
    owner: Type.Optional(nullable(Person())),
    watchers: Type.Array(closed({ user: Person() })),
    target: Type.Union([
      closed({ kind: Type.Literal('person'), value: Person() }),
      closed({ kind: Type.Literal('text'), value: Type.String() }),
    ]),
  }),
);
const edit = operation({
  id: 'edit',
  owner: 'content',
  surface: 'public',
  method: 'POST',
  path: '/things/{thingId}',
  tag: 'Things',
  summary: 'Edit',
  access: 'authenticated',
  params: closed({ thingId: Id() }),
  query: closed({
    ...paging,
    status: Type.Optional(Type.Array(words(['open', 'closed']))),
    deep: Type.Optional(Type.Boolean()),
  }),
  body: closed({
    changes: Type.Optional(Type.Array(Type.Union([Insert, Remove]), { maxItems: 3 })),
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    url: Type.Optional(Type.String({ format: 'uri' })),
    size: Type.Optional(Type.Union([Type.Number(), closed({ unit: Type.String(), value: Type.Number() })])),
  }),
  success: { 200: listOf(Thing), 204: null },
});
const contract = createContract({ edit });
const checks = contract.checks(edit);
const said = (found: ReturnType<typeof checks.body>): string => sentence(found ?? []);

describe('what a caller is told about a body', () => {
  test.each<[unknown, string]>([
    [{ count: 0 }, 'body.count: must be at least 1'],
    [{ count: '1' }, 'body.count: must be a whole number'],
    [{ nope: 1 }, 'body.nope: is not a field that is known here'],
    [[], 'body: must be an object'],
    [null, 'body: must be an object'],
    [{ url: 'x' }, 'body.url: must be an absolute URL'],
    [{ changes: [{}] }, 'body.changes[0].operation: must be one of "insert", "remove"'],
    [{ changes: [{ operation: 'move' }] }, 'body.changes[0].operation: must be one of "insert", "remove"'],
    [{ changes: [{ operation: 'insert' }] }, 'body.changes[0].title: is required'],
    [
      {
        changes: [
          { operation: 'remove', page: 'a' },
          { operation: 'insert', title: 'toolong', x: 1 },
        ],
      },
      'body.changes[1].x: is not a field that is known here; body.changes[1].title: must be at most 5 characters long',
    ],
    [{ changes: [7] }, 'body.changes[0]: must be an object'],
    [{ changes: [1, 2, 3, 4] }, 'body.changes: must have at most 3 items'],
    [{ size: 'x' }, 'body.size: must be a number or an object'],
    [{ size: { unit: 'px' } }, 'body.size.value: is required'],
    [{ count: 'x'.repeat(10_000) }, 'body.count: must be a whole number'],
    [JSON.parse('{"__proto__": {}}'), 'body.__proto__: is not a name that a field may have'],
    [{ url: { constructor: 1 } }, 'body.url.constructor: is not a name that a field may have'],
    [{ url: 'a\u0000b' }, 'body.url: must not contain the NUL character'],
    [{ url: 'a\ud800' }, 'body.url: must be well-formed Unicode (it has half of a surrogate pair)'],
  ])('%j', (body, message) => {
    expect(said(checks.body(body))).toContain(message);
  });

  test('nesting has a limit, however it is nested', () => {
    const deep = JSON.parse(`${'['.repeat(5000)}1${']'.repeat(5000)}`);
    expect(said(checks.body({ size: deep }))).toContain('must not be nested deeper than 100 levels');
  });

  test('at most five rules, whatever the size', () => {
    const body = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`f${index}`, index]));
    expect(checks.body(body)?.length).toBeLessThanOrEqual(5);
  });
});

describe('queries and parameters', () => {
  test('are coerced and get defaults', () => {
    const query = { status: 'open', deep: 'true' };
    expect(checks.query(query)).toBeUndefined();
    expect(query).toEqual({ status: ['open'], deep: true, limit: 50 });
  });
  test.each<[Record<string, unknown>, string]>([
    [{ limit: 'abc' }, 'query.limit: must be a whole number'],
    [{ limit: '1001' }, 'query.limit: must be at most 1000'],
    [{ limit: ['1', '2'] }, 'query.limit: must be a whole number'],
    ...['0x1', '1e1', ' 1', '1 ', '+1', '1.0', '', '0b1'].map((limit): [Record<string, unknown>, string] => [
      { limit },
      'query.limit: must be a whole number',
    ]),
    [{ limt: '1' }, 'query.limt: is not a field that is known here'],
    [{ status: ['open', 'no'] }, 'query.status[1]: must be one of "open", "closed"'],
    [{ page: 'a\u0000' }, 'query.page: must not contain the NUL character'],
  ])('%j', (query, message) => {
    expect(said(checks.query(query))).toBe(message);
  });
  test('an id is checked', () => {
    expect(said(checks.params({ thingId: 'a b' }))).toBe('params.thingId: must match ^[a-zA-Z0-9_-]+$');
  });
});

describe('answers', () => {
  const user = { object: 'user', id: 'u' };
  const thing = { id: 't', owner: null, watchers: [{ user }], target: { kind: 'text', value: 'x' } };
  test('are checked against the declared status', () => {
    expect(contract.checkResponse('edit', 200, { items: [thing] })).toEqual([]);
    expect(contract.checkResponse('edit', 200, { items: [{ ...thing, id: 1 }] })).toEqual([
      'answer.items[0].id: must be a string',
    ]);
    expect(contract.checkResponse('edit', 204, undefined)).toEqual([]);
    expect(contract.checkResponse('edit', 204, {})).toEqual(['edit: 204 has no body']);
    expect(contract.checkResponse('edit', 418, {})).toEqual(['edit: status 418 is not documented']);
    expect(contract.checkResponse('edit', 404, { error: { code: 404, message: 'no' } })).toEqual([]);
    expect(contract.checkResponse('edit', 404, { error: { code: 400, message: 'no' } })).toEqual([
      'edit: error.code is not 404',
    ]);
  });
});

test('every declared operation compiles', () => {
  const all = createContract(operations);
  for (const declared of all.operations.values()) {
    const { params, query, body } = all.checks(declared);
    for (const check of [params, query, body]) check({});
    for (const status of Object.keys(declared.success)) all.checkResponse(declared.id, Number(status), {});
    all.checkResponse(declared.id, 500, {});
  }
});
