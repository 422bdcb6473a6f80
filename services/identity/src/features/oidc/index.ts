export { acceptableIssuer, type OidcConfig } from './config.ts';
export { type ExternalIdentityEvent, externalIdentityAggregate } from './external-identities.ts';
export { createOidcFeature } from './feature.ts';
