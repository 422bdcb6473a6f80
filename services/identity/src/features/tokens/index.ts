export { type CredentialsCommand, credentialsAggregate } from './decider.ts';
export type { CredentialsEvent } from './events.ts';
export { createPrincipals, type LoadPrincipal, type Principals } from './principals.ts';
export { type LiveTokens, openTokens, tokenByHash } from './queries.ts';
export { tokensProjection } from './read-model.ts';
export { ownTokenRoutes } from './routes/own-tokens.ts';
export { resolveTokenRoute } from './routes/resolve-token.ts';
export {
  createUserTokenRoute,
  deleteUserTokenRoute,
  listUserTokensRoute,
  type TokenRoutesDeps,
} from './routes/tokens.ts';
export { acceptableToken, newSecret, newTokenSecret, tokenHashOf } from './secret.ts';
export type { CredentialsState } from './state.ts';
export { createTokenUsage, sessionUsageCollection, type TokenUsage } from './usage.ts';
