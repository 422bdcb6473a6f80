import type { resolveSession } from '@bindery/contracts';
import type { OperationHandler } from '@bindery/service-kit';
import type { Principals } from '../../tokens/index.ts';

/** Who a session cookie belongs to; the gateway asks on every request that has no token. */
export const resolveSessionRoute =
  ({ principals }: { readonly principals: Principals }): OperationHandler<typeof resolveSession> =>
  async ({ now }, { body }) => ({ status: 200, body: { principal: await principals.resolve(body.sessionHash, now) } });
