import { expect, test } from '@jest/globals';
import Type from 'typebox';
import { component, components, embedded, forwardRef } from '../kit/components.ts';
import { closed, listOf, nullable } from '../kit/schema.ts';
import { createEmbedPlanner, replaceEmbeds } from './embeds.ts';

component('EmbedUser', closed({ id: Type.String() }));
const Person = () => embedded('user', 'EmbedUser');
component('EmbedPlain', closed({ next: Type.Optional(forwardRef<object>('EmbedPlain')), x: Type.String() }));
component(
  'EmbedNode',
  closed({ by: Person(), replies: Type.Array(forwardRef<object>('EmbedNode')), plain: forwardRef('EmbedPlain') }),
);
const Thing = closed({
  owner: Type.Optional(nullable(Person())),
  watchers: Type.Array(closed({ user: Person() })),
  byName: Type.Record(Type.String(), Person()),
  target: Type.Union([
    closed({ kind: Type.Literal('person'), value: Person() }),
    closed({ kind: Type.Literal('text'), value: Type.String() }),
  ]),
  node: forwardRef<object>('EmbedNode'),
});
const planner = createEmbedPlanner(components());

test('schemas without embedded resources have no plan', () => {
  expect(planner(forwardRef('EmbedPlain'))).toBeUndefined();
});

test('ids are replaced wherever the schema embeds, and nowhere else', () => {
  const answer = {
    items: [
      {
        owner: 'a',
        watchers: [{ user: 'b' }],
        byName: { x: 'c' },
        target: { kind: 'text', value: 'not-an-id' },
        node: { by: 'd', replies: [{ by: 'e', replies: [], plain: { x: 'p' } }], plain: { x: 'q' } },
      },
      { owner: null, watchers: [], byName: {}, target: { kind: 'person', value: 'f' }, node: { by: 'g', replies: [] } },
    ],
  };
  const before = structuredClone(answer);
  const plan = planner(listOf(Thing));
  const seen: string[] = [];
  const filled =
    plan &&
    replaceEmbeds(plan, answer, (kind, id) => {
      seen.push(`${kind}:${id}`);
      return { id };
    });
  expect(seen.sort()).toEqual(['user:a', 'user:b', 'user:c', 'user:d', 'user:e', 'user:f', 'user:g']);
  expect(filled).toMatchObject({
    items: [
      { owner: { id: 'a' }, target: { kind: 'text', value: 'not-an-id' }, node: { replies: [{ by: { id: 'e' } }] } },
      { owner: null, target: { value: { id: 'f' } } },
    ],
  });
  expect(answer).toEqual(before);
});
