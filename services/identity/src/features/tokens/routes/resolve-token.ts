import type { resolveToken } from '@bindery/contracts';
import type { OperationHandler } from '@bindery/service-kit';
import { type SealOrigin, withOrigin } from '../../../shared/with-origin.ts';
import type { Principals } from '../principals.ts';

/** Who a bearer token belongs to; the gateway asks on every request. */
export const resolveTokenRoute =
  (deps: { readonly principals: Principals; readonly sealOrigin: SealOrigin }): OperationHandler<typeof resolveToken> =>
  async ({ now }, { body: { tokenHash, address } }) => {
    const principal = await deps.principals.resolve(tokenHash, now);
    return { status: 200, body: { principal: await withOrigin(principal, address, deps.sealOrigin) } };
  };
