import type { userTokenOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { forbidden, type HandlersFor, holdsAccount, type Principal, requireIfMatch } from '@bindery/service-kit';
import { issueToken, listTokensOf, noVersion, type TokenRoutesDeps } from './tokens.ts';

/**
 * Through an organization's identity provider somebody gets into the organization, not at what else the account has.
 * @throws Problem 403
 */
const requireAccount = (principal: Principal): void => {
  if (!holdsAccount(principal))
    throw forbidden('token.account', 'A session of an organization does not show or revoke the tokens of the account.');
};

/** The operations on the caller's own tokens. */
export const ownTokenRoutes = (deps: TokenRoutesDeps): HandlersFor<typeof userTokenOperations> => ({
  listTokensForAuthenticatedUser: async ({ principal }, { query }) => {
    requireAccount(principal);
    return listTokensOf(deps, 'listTokensForAuthenticatedUser', principal.id, query);
  },
  createTokenForAuthenticatedUser: async (context, { body }) => issueToken(deps, context, context.principal.id, body),
  deleteTokenForAuthenticatedUser: async (context, { params: { tokenId }, ...request }) => {
    requireIfMatch(request, noVersion);
    const { id: userId, tokenId: used } = context.principal;
    if (tokenId !== used) requireAccount(context.principal);
    const data = { userId, tokenId, revokedAt: context.now.toISOString() };
    const { events } = await deps.credentials.handle(userId, { type: 'RevokeToken', data }, commandMetadata(context));
    await deps.forget(userId);
    return events.length > 0 ? { status: 205 } : { status: 204 };
  },
});
