export type { BootstrapOptions, Bootstrapped } from './bootstrap.ts';
export { identityAuditRules } from './features/audit/index.ts';
export { acceptableToken, newTokenSecret } from './features/tokens/index.ts';
export type { IdentityOptions, IdentityService } from './identity-options.ts';
export { createIdentityService } from './service.ts';
export { identitySettings, samlSettings } from './settings.ts';
export { createKeyStore, type KeyStore } from './shared/key-store.ts';
export { createVault, keyBytes, type Vault } from './shared/vault.ts';
export { type SignInConfig, signInConfig, signInSettings } from './sign-in-settings.ts';
