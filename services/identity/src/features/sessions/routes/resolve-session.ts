import type { resolveSession } from '@bindery/contracts';
import type { OperationHandler } from '@bindery/service-kit';
import { type SealOrigin, withOrigin } from '../../../shared/with-origin.ts';
import type { Principals } from '../../tokens/index.ts';

/** Who a session cookie belongs to; the gateway asks on every request that has no token. */
export const resolveSessionRoute =
  (deps: {
    readonly principals: Principals;
    readonly sealOrigin: SealOrigin;
  }): OperationHandler<typeof resolveSession> =>
  async ({ now }, { body: { sessionHash, address } }) => {
    const principal = await deps.principals.resolve(sessionHash, now);
    return { status: 200, body: { principal: await withOrigin(principal, address, deps.sealOrigin) } };
  };
