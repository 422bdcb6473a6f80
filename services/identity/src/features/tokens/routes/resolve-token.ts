import type { resolveToken } from '@bindery/contracts';
import type { OperationHandler } from '@bindery/service-kit';
import { type SealOrigin, withOrigin } from '../../../shared/with-origin.ts';
import type { Principals } from '../principals.ts';

/** Who a bearer token belongs to; the gateway asks whenever what it was told last does not hold any more. */
export const resolveTokenRoute =
  (deps: { readonly principals: Principals; readonly sealOrigin: SealOrigin }): OperationHandler<typeof resolveToken> =>
  async ({ now }, { body: { tokenHash, address } }) => {
    const held = await deps.principals.resolveHeld(tokenHash, now);
    const principal = await withOrigin(held?.principal ?? null, address, deps.sealOrigin);
    return { status: 200, body: { principal, ...(held?.holds ? { holds: held.holds } : {}) } };
  };
