import type { ReadStore } from '@bindery/read-store';
import { createRepeatedWarnings, noopTelemetry } from '@bindery/telemetry';
import { expect, test } from '@jest/globals';
import { createTokenUsage, sessionUsageCollection } from './usage.ts';

test('while the store is away that is said once for tokens and once for sessions, then counted', async () => {
  const away = { get: () => Promise.reject(new Error('away')) };
  const store = { collection: async () => away } as unknown as ReadStore;
  const said: (object | undefined)[] = [];
  const { logger } = noopTelemetry();
  const warnings = createRepeatedWarnings({ ...logger, warn: (_message, fields) => said.push(fields) }, 60_000);
  const tokens = await createTokenUsage(store, warnings);
  const sessions = await createTokenUsage(store, warnings, sessionUsageCollection);
  for (let n = 0; n < 20; n += 1) {
    tokens.note(`t${n}`, new Date());
    sessions.note(`s${n}`, new Date());
  }
  await Promise.all([tokens.settle(), sessions.settle()]);
  expect(said).toMatchObject([{ tokenId: 't0' }, { tokenId: 's0' }]);
  warnings.stop();
  expect(said.slice(2)).toMatchObject([
    { tokenId: 't19', repeated: 19 },
    { tokenId: 's19', repeated: 19 },
  ]);
});
