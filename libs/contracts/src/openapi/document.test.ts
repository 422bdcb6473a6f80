import { expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { OperationDefinition } from '../kit/operation.ts';
import { operations } from '../operations.ts';
import { buildOpenApi } from './document.ts';

const document = buildOpenApi({ baseUrl: 'https://docs.example.com', version: '1.2.3' });
const all: readonly OperationDefinition[] = Object.values(operations);

test('the document is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result).toMatchObject({ valid: true });
});

test('every pointer leads somewhere', () => {
  const pointers = new Set(
    [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, pointer]) => pointer ?? ''),
  );
  expect(pointers.size).toBeGreaterThan(10);
  for (const pointer of pointers) {
    let part: unknown = document;
    for (const step of pointer.split('/')) part = Object(part)[step];
    expect({ pointer, found: part !== undefined }).toEqual({ pointer, found: true });
  }
});

test('it has exactly the operations that are not internal, each with errors and a request id', () => {
  const described = Object.values(document.paths).flatMap((item) => Object.values(item));
  const ids = described.map((operation) => String(Object(operation).operationId)).sort();
  expect(ids).toEqual(
    all
      .filter(({ surface }) => surface !== 'internal')
      .map(({ id }) => id)
      .sort(),
  );
  for (const operation of described) {
    const { responses } = Object(operation);
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['429', '500', '503']));
  }
  expect(JSON.stringify(document)).not.toMatch(/x-embed|resolveToken|loadUsers/);
});

test('operation ids, and method with path, are unique', () => {
  const places = all.map(({ surface, method, path }) => `${surface} ${method} ${path.replace(/\{[^}]+\}/g, '{}')}`);
  expect(new Set(places).size).toBe(places.length);
  for (const [key, { id }] of Object.entries(operations)) expect(id).toBe(key);
});

test('path parameters are declared, and nothing else is in them', () => {
  for (const { id, path, params } of all) {
    const named = [...path.matchAll(/\{([^}*]+)\*?\}/g)].map(([, name]) => name ?? '').sort();
    expect({ id, named }).toEqual({ id, named: Object.keys(params?.properties ?? {}).sort() });
  }
});
