import type { userTokenOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import { type HandlersFor, requireIfMatch } from '@bindery/service-kit';
import { issueToken, listTokensOf, noVersion, type TokenRoutesDeps } from './tokens.ts';

/** The operations on the caller's own tokens. */
export const ownTokenRoutes = (deps: TokenRoutesDeps): HandlersFor<typeof userTokenOperations> => ({
  listTokensForAuthenticatedUser: async ({ principal }, { query }) =>
    listTokensOf(deps, 'listTokensForAuthenticatedUser', principal.id, query),
  createTokenForAuthenticatedUser: async (context, { body }) => issueToken(deps, context, context.principal.id, body),
  deleteTokenForAuthenticatedUser: async (context, { params: { tokenId }, ...request }) => {
    requireIfMatch(request, noVersion);
    const { id: userId } = context.principal;
    const data = { userId, tokenId, revokedAt: context.now.toISOString() };
    const { events } = await deps.credentials.handle(userId, { type: 'RevokeToken', data }, commandMetadata(context));
    await deps.forget(userId);
    return events.length > 0 ? { status: 205 } : { status: 204 };
  },
});
