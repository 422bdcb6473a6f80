import type { resolveToken } from '@bindery/contracts';
import type { OperationHandler } from '@bindery/service-kit';
import type { Principals } from '../principals.ts';

/** Who a bearer token belongs to; the gateway asks on every request. */
export const resolveTokenRoute =
  ({ principals }: { readonly principals: Principals }): OperationHandler<typeof resolveToken> =>
  async ({ now }, { body }) => ({ status: 200, body: { principal: await principals.resolve(body.tokenHash, now) } });
