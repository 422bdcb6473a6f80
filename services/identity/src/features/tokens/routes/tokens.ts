import {
  type createUserToken,
  type deleteUserToken,
  type listUserTokens,
  type OAuthScope,
  oauthScopes,
} from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import {
  type CursorCodec,
  listIdentity,
  notFound,
  type OperationContext,
  type OperationHandler,
  paginate,
  requireIfMatch,
} from '@bindery/service-kit';
import type { ForgetPrincipal } from '../../../shared/ports.ts';
import type { CredentialsCommand } from '../decider.ts';
import type { CredentialsEvent } from '../events.ts';
import type { LiveTokens } from '../queries.ts';
import type { TokenDocument } from '../read-model.ts';
import { newTokenSecret, tokenHashOf } from '../secret.ts';
import type { CredentialsState } from '../state.ts';
import type { TokenUsage } from '../usage.ts';

export interface TokenRoutesDeps {
  readonly credentials: Repository<CredentialsState, CredentialsCommand, CredentialsEvent>;
  readonly tokens: LiveTokens;
  readonly usage: TokenUsage;
  readonly cursors: CursorCodec;
  readonly userExists: (userId: string) => Promise<boolean>;
  readonly forget: ForgetPrincipal;
}

const defaultName = 'Personal access token';

/** Makes a token for a user. */
export const issueToken = async (
  deps: TokenRoutesDeps,
  context: OperationContext,
  userId: string,
  body: { readonly name?: string; readonly expiresAt?: string; readonly scopes?: readonly OAuthScope[] } | undefined,
) => {
  const token = newTokenSecret();
  const { signedInBy } = context.principal;
  const issuedAt = context.now.toISOString();
  const { name = defaultName, expiresAt: until, scopes: wanted } = body ?? {};
  const expiresAt = until === undefined ? undefined : new Date(until).toISOString();
  const scopes = wanted === undefined ? undefined : oauthScopes.filter((scope) => wanted.includes(scope));
  const data = {
    userId,
    tokenId: context.ids.id(),
    tokenHash: tokenHashOf(token),
    name,
    issuedAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(scopes === undefined ? {} : { scopes }),
    // What an organization's identity provider vouched for reaches no further by way of a token.
    ...(signedInBy !== undefined && context.principal.id === userId ? { signedInBy } : {}),
  };
  // A repeated request has the same ids but, the first secret being lost, another secret: that is another event.
  const metadata = { ...commandMetadata(context), eventId: () => crypto.randomUUID() };
  await deps.credentials.handle(userId, { type: 'IssueToken', data }, metadata);
  await deps.forget(userId);
  const shown = {
    id: data.tokenId,
    token,
    name,
    createdAt: issuedAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(scopes === undefined ? {} : { scopes }),
  };
  return { status: 201 as const, body: shown };
};

/** POST /users/{userId}/tokens of the administration */
export const createUserTokenRoute =
  (deps: TokenRoutesDeps): OperationHandler<typeof createUserToken> =>
  async (context, { params: { userId }, body }) => {
    if (!(await deps.userExists(userId))) throw notFound('user');
    return issueToken(deps, context, userId, body);
  };

/** The tokens of a user, a page at a time. */
export const listTokensOf = async (
  deps: TokenRoutesDeps,
  list: string,
  userId: string,
  query: { readonly page?: string; readonly limit?: number },
  /** Only those made in sessions that this organization vouched for. */
  vouchedBy?: string,
) => {
  const { items, ...rest } = await paginate<TokenDocument>(
    deps.tokens(),
    listIdentity(list, { userId, vouchedBy }),
    {
      where: { userId, ...(vouchedBy === undefined ? {} : { 'signedInBy.organizationId': vouchedBy }) },
      orderBy: [{ field: 'createdAt', direction: 'desc' }],
    },
    query,
    deps.cursors,
  );
  const used = await deps.usage.lastUsedAt(items.map(({ id }) => id));
  const present = ({ id, name, createdAt, expiresAt, scopes }: TokenDocument) => {
    const lastUsedAt = used.get(id);
    return {
      id,
      name,
      createdAt,
      ...(expiresAt === undefined ? {} : { expiresAt }),
      ...(scopes === undefined ? {} : { scopes: [...scopes] }),
      ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
    };
  };
  return { status: 200 as const, body: { ...rest, items: items.map(({ document }) => present(document)) } };
};

/** GET /users/{userId}/tokens of the administration */
export const listUserTokensRoute =
  (deps: TokenRoutesDeps): OperationHandler<typeof listUserTokens> =>
  async (_context, { params: { userId }, query }) => {
    if (!(await deps.userExists(userId))) throw notFound('user');
    return listTokensOf(deps, 'listUserTokens', userId, query);
  };

/** Tokens never change and show no entity tag, so that only `*` matches one. */
export const noVersion = '';

/** DELETE /users/{userId}/tokens/{tokenId} of the administration */
export const deleteUserTokenRoute =
  (deps: TokenRoutesDeps): OperationHandler<typeof deleteUserToken> =>
  async (context, { params: { userId, tokenId }, ...request }) => {
    if (!(await deps.userExists(userId))) throw notFound('user');
    requireIfMatch(request, noVersion);
    const { events } = await deps.credentials.handle(
      userId,
      { type: 'RevokeToken', data: { userId, tokenId, revokedAt: context.now.toISOString() } },
      commandMetadata(context),
    );
    await deps.forget(userId);
    return events.length > 0 ? { status: 205 } : { status: 204 };
  };
