import type { userTokenOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { forbidden, type HandlersFor, holdsAccount, type Principal, requireIfMatch } from '@bindery/service-kit';
import { issueToken, listTokensOf, noVersion, type TokenRoutesDeps } from './tokens.ts';

/**
 * Through an organization's identity provider somebody gets into the organization, not at what else the account has: of its
 * tokens, those that were made so.
 * @returns the organization; undefined for who holds the account
 */
const vouchedBy = (principal: Principal): string | undefined =>
  holdsAccount(principal) ? undefined : (principal.signedInBy?.organizationId ?? '');

/** The operations on the caller's own tokens. */
export const ownTokenRoutes = (deps: TokenRoutesDeps): HandlersFor<typeof userTokenOperations> => ({
  listTokensForAuthenticatedUser: async ({ principal }, { query }) => {
    const organization = vouchedBy(principal);
    return listTokensOf(deps, 'listTokensForAuthenticatedUser', principal.id, query, organization);
  },
  createTokenForAuthenticatedUser: async (context, { body }) => issueToken(deps, context, context.principal.id, body),
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
