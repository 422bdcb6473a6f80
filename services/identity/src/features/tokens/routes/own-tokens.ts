import type { userTokenOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import {
  forbidden,
  type HandlersFor,
  holdsAccount,
  invalid,
  type Principal,
  requireIfMatch,
} from '@bindery/service-kit';
import { issueToken, listTokensOf, noVersion, type TokenRoutesDeps } from './tokens.ts';

/**
 * Through an organization's identity provider somebody gets into the organization, not at what else the account has: of its
 * tokens, those that were made so.
 * @returns the organization; undefined for who holds the account
 */
const vouchedBy = (principal: Principal): string | undefined =>
  holdsAccount(principal) ? undefined : (principal.signedInBy?.organizationId ?? '');

/**
 * Who was given a token for a time has no more than that time: what it makes with it ends with it.
 * @throws Problem invalid
 */
const requireNotOutliving = async (
  { tokens }: TokenRoutesDeps,
  principal: Principal,
  wanted: string | undefined,
): Promise<void> => {
  const ends = (await tokens().get(principal.tokenId))?.document.expiresAt;
  if (ends === undefined || (wanted !== undefined && Date.parse(wanted) <= Date.parse(ends))) return;
  throw invalid('token.outlives', `body.expiresAt: must be at most ${ends}, when the token of this request expires`);
};

/** The operations on the caller's own tokens. */
export const ownTokenRoutes = (deps: TokenRoutesDeps): HandlersFor<typeof userTokenOperations> => ({
  listTokensForAuthenticatedUser: async ({ principal }, { query }) => {
    const organization = vouchedBy(principal);
    return listTokensOf(deps, 'listTokensForAuthenticatedUser', principal.id, query, organization);
  },
  createTokenForAuthenticatedUser: async (context, { body }) => {
    await requireNotOutliving(deps, context.principal, body?.expiresAt);
    return issueToken(deps, context, context.principal.id, body);
  },
  deleteTokenForAuthenticatedUser: async (context, { params: { tokenId }, ...request }) => {
    requireIfMatch(request, noVersion);
    const { id: userId } = context.principal;
    const organization = vouchedBy(context.principal);
    if (organization !== undefined) {
      const made = (await deps.tokens().get(tokenId))?.document.signedInBy?.organizationId;
      if (made !== organization)
        throw forbidden('token.account', 'A session of an organization revokes only tokens that were made in one.');
    }
    const data = { userId, tokenId, revokedAt: context.now.toISOString() };
    const { events } = await deps.credentials.handle(userId, { type: 'RevokeToken', data }, commandMetadata(context));
    await deps.forget(userId);
    return events.length > 0 ? { status: 205 } : { status: 204 };
  },
});
