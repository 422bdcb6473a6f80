import { ConfigError, optional, required } from '@bindery/service-kit';
import { acceptableIssuer, type OidcConfig } from './features/oidc/index.ts';
import type { HashCost } from './features/passwords/index.ts';
import type { SessionLifetimes } from './features/sessions/index.ts';

const domains = /^[a-z0-9.-]{1,253}( *, *[a-z0-9.-]{1,253}){0,99}$/i;

/** Settings of signing in, read from the environment by the composition root. */
export const signInSettings = {
  SESSION_IDLE_HOURS: required.integer({
    description: 'Hours without any use after which a browser is signed out.',
    fallback: 168,
    min: 1,
    max: 8760,
  }),
  SESSION_MAX_DAYS: required.integer({
    description: 'Days after which a browser is signed out, however much it is used.',
    fallback: 30,
    min: 1,
    max: 400,
  }),
  OIDC_ISSUER: optional.url({
    description: 'Issuer of the OpenID provider that people sign in with; https, or http on this machine.',
  }),
  OIDC_CLIENT_ID: optional.text({ description: 'What the OpenID provider knows this instance as.' }),
  OIDC_CLIENT_SECRET: optional.text({
    description: 'Secret of the instance at the OpenID provider; none for a public client.',
    secret: true,
  }),
  OIDC_SCOPES: required.text({
    description: 'Scopes that are asked for, separated by spaces.',
    fallback: 'openid email profile',
    pattern: /^(?=.*\bopenid\b)[\x21-\x7e]+( [\x21-\x7e]+)*$/,
    allowed: 'scopes separated by spaces, `openid` among them',
  }),
  OIDC_EMAIL_DOMAINS: optional.text({
    description: 'Only people whose email is in one of these domains sign in with the OpenID provider; any without it.',
    pattern: domains,
    allowed: 'domains separated by commas',
  }),
  OIDC_CREATE_USERS: required.flag({
    description: 'Whether people whom the OpenID provider knows get an account when they have none.',
    fallback: false,
  }),
};

/** How people sign in. */
export interface SignInConfig {
  readonly sessions: SessionLifetimes;
  readonly oidc?: OidcConfig | undefined;
  /** Of passwords; the usual one without it, a low one in tests. */
  readonly hashCost?: HashCost | undefined;
}

const hour = 3_600_000;

/** What tests and tools get that say nothing. */
export const defaultSignIn: SignInConfig = { sessions: { idleMs: 168 * hour, absoluteMs: 30 * 24 * hour } };

type Settings = {
  readonly [K in keyof typeof signInSettings]:
    | ReturnType<(typeof signInSettings)[K]['read']>
    | ((typeof signInSettings)[K]['required'] extends true ? never : undefined);
};

/**
 * The configuration that the settings make.
 * @throws ConfigError when the settings of the OpenID provider do not fit together
 */
export const signInConfig = (settings: Settings): SignInConfig => ({
  sessions: { idleMs: settings.SESSION_IDLE_HOURS * hour, absoluteMs: settings.SESSION_MAX_DAYS * 24 * hour },
  oidc: oidcConfig(settings),
});

const oidcConfig = (settings: Settings): OidcConfig | undefined => {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined)
    throw new ConfigError('Configuration: OIDC_ISSUER and OIDC_CLIENT_ID: are needed together');
  if (!acceptableIssuer(issuer)) throw new ConfigError('Configuration: OIDC_ISSUER: must be an https URL');
  return {
    issuer,
    clientId,
    clientSecret: settings.OIDC_CLIENT_SECRET,
    scopes: settings.OIDC_SCOPES,
    emailDomains: (settings.OIDC_EMAIL_DOMAINS ?? '')
      .toLowerCase()
      .split(',')
      .map((domain) => domain.trim())
      .filter((domain) => domain !== ''),
    createUsers: settings.OIDC_CREATE_USERS,
  };
};
