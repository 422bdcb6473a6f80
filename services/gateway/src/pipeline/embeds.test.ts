import { createMemoryCache } from '@bindery/cache/memory';
import { components, createContract, type EmbedPlan, operations } from '@bindery/contracts';
import { createIdSource, type OperationContext, servicePrincipal } from '@bindery/service-kit';
import { noopTelemetry } from '@bindery/telemetry';
import { expect, test } from '@jest/globals';
import { createHydrate, loaders } from './embeds.ts';

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

test('embedded users are loaded without the cache, whichever part of it is away', async () => {
  const context: OperationContext = {
    principal: servicePrincipal('test'),
    requestId: 'r',
    now: new Date(0),
    ids: createIdSource(),
    signal: new AbortController().signal,
    baseUrl: 'http://localhost',
  };
  const plan: EmbedPlan = { fields: new Map([['createdBy', { kind: 'user' }]]) };
  const away = async (): Promise<never> => {
    throw new Error('away');
  };
  const cache = createMemoryCache();
  let loads = 0;
  const call = async () => {
    loads += 1;
    return { status: 200, body: { users: [{ object: 'user', id: 'u1' }] } };
  };
  for (const broken of [{ increment: away, getMany: away, set: away }, { getMany: away, set: away }, { set: away }]) {
    const hydrate = createHydrate(createContract(operations), call, { ...cache, ...broken }, noopTelemetry().logger);
    expect(await hydrate(plan, { createdBy: 'u1' }, context)).toEqual({ createdBy: { object: 'user', id: 'u1' } });
  }
  expect(loads).toBe(3);
});
