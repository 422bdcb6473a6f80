export { providerAggregate } from './decider.ts';
export { keepsOwnRights, reachable } from './enforcement.ts';
export type { ProviderEvent } from './events.ts';
export { createSamlFeature, type SamlSettings } from './feature.ts';
export type { AssertionUsed } from './login/assertion-use.ts';
export type { LoginEvent } from './login/login-aggregate.ts';
export type { SamlRoute } from './login/raw-routes.ts';
export { samlPublicEvents } from './public-events.ts';
export { samlProvidersProjection } from './read-model.ts';
