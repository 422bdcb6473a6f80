import { components, operations } from '@bindery/contracts';
import { expect, test } from '@jest/globals';
import { loaders } from './embeds.ts';

test('whatever the contract embeds, the gateway can load', () => {
  const contract = JSON.stringify(
    [...components()].concat(Object.entries(operations).map(([id, { success }]) => [id, Object(success)])),
  );
  const kinds = new Set([...contract.matchAll(/"x-embed":"(\w+)"/g)].map(([, kind]) => kind ?? ''));
  expect(kinds.size).toBeGreaterThan(0);
  for (const kind of kinds) {
    const loader = Object.entries(loaders).find(([name]) => name === kind)?.[1];
    expect({ kind, declared: Object.hasOwn(operations, loader?.operationId ?? '') }).toEqual({ kind, declared: true });
  }
});
