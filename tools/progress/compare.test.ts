import { existsSync, readFileSync } from 'node:fs';
import { operations } from '@bindery/contracts';
import { expect, test } from '@jest/globals';
import { compareWithSpecification, parseSpecification } from './compare.ts';

const head = 'id\tmethod\tpath\towner\ttier\tsuccess\terrors';
const thing = {
  id: 'getThing',
  owner: 'content',
  surface: 'public',
  method: 'GET',
  path: '/things/{path*}',
  success: { 200: null },
  tag: '',
  summary: '',
  access: 'authenticated',
} as const;

test('counts, names what is missing, and reports differences', () => {
  const specified = parseSpecification(
    `${head}\ngetThing\tGET\t/things/{path}\tcontent\treference\t200\t-\nputThing\tPUT\t/things\tcontent\tneeded\t204,205\t-\n`,
  );
  const result = compareWithSpecification(specified, { getThing: thing });
  expect(result.table).toContain('| content | 1 / 1 | 0 / 1 | 0 / 0 | 1 / 2 |');
  expect([...result.missing]).toEqual([['content (needed)', ['putThing']]]);
  expect(result.differences).toEqual([]);
  const wrong = compareWithSpecification(specified, {
    getThing: { ...thing, method: 'POST', success: { 201: null } },
    x: { ...thing, id: 'x' },
  });
  expect(wrong.differences).toEqual([
    'getThing: method is POST, specified GET',
    'getThing: success is 201, specified 200',
  ]);
  expect(wrong.extensions).toEqual(['x']);
});

const list = new URL('../../../shared/spec/operations.tsv', import.meta.url);
// The specification lies beside the repository only where the product is developed.
const withSpecification = existsSync(list) ? test : test.skip;
withSpecification('no declared operation differs from the specification', () => {
  const { differences } = compareWithSpecification(parseSpecification(readFileSync(list, 'utf8')), operations);
  expect(differences).toEqual([]);
});
