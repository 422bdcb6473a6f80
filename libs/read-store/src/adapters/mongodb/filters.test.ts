import { expect, test } from '@jest/globals';
import { encode } from './encode.ts';
import { pageQuery, whereFilter } from './filters.ts';

test('every filter asks for what is alive, which begins every index', () => {
  expect(whereFilter({})).toEqual({ l: 1 });
  expect(whereFilter({ 'owner.id': 'u', labels: { contains: 'x' } })).toEqual({
    l: 1,
    'k.owner/id': encode('u'),
    'm.labels': encode('x'),
  });
});

test('what cannot match is not asked for', () => {
  expect(whereFilter({ a: { in: [] } })).toBeUndefined();
  expect(whereFilter({ a: { gt: null } })).toBeUndefined();
  expect(whereFilter({ a: { gt: 5, lt: 'x' } })).toBeUndefined();
  expect(whereFilter({ a: { gte: 5, lt: 3 } })).toBeUndefined();
  expect(pageQuery({ where: { a: { in: [] } }, limit: 1 })).toBeUndefined();
});

test('a range is one interval, closed by the limits of its type', () => {
  expect(whereFilter({ a: { gt: 'm' } })).toEqual({ l: 1, 'k.a': { $gt: '2m', $lt: '3' } });
  expect(whereFilter({ a: { lte: 'm' } })).toEqual({ l: 1, 'k.a': { $gte: '2', $lte: '2m' } });
  expect(whereFilter({ a: { gte: 'b', lt: 'm' } })).toEqual({ l: 1, 'k.a': { $gte: '2b', $lt: '2m' } });
  expect(whereFilter({ a: { gte: null } })).toEqual({ l: 1, 'k.a': { $gte: '0', $lte: '0' } });
});

test('after a keyset there is an alternative for each sort field, each with the whole condition', () => {
  const query = pageQuery({
    where: { spaceId: 's' },
    orderBy: [{ field: 'at', direction: 'desc' }],
    after: ['t', 'id7'],
    limit: 3,
  });
  expect(query).toEqual({
    sort: { 'k.at': -1, _id: -1 },
    filter: {
      $or: [
        { l: 1, 'k.spaceId': '2s', 'k.at': { $lt: '2t' } },
        { l: 1, 'k.spaceId': '2s', 'k.at': '2t', _id: { $lt: 'id7' } },
      ],
    },
  });
  expect(
    pageQuery({
      where: { at: { gt: 'a' } },
      orderBy: [{ field: 'at', direction: 'asc' }],
      after: ['t', 'i'],
      limit: 3,
    }),
  ).toMatchObject({ filter: { $or: [{ $and: expect.anything() }, { $and: expect.anything() }] } });
});
