import { Problem } from '@bindery/service-kit';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client';
import type { OidcConfig } from './config.ts';

/** Secrets of one sign-in under way. */
export interface FlowSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** What the provider vouches for. */
export interface ExternalProfile {
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
}

/** The OpenID provider, as far as signing in goes. */
export interface OidcProvider {
  /** Where the browser goes. @throws Problem 503 when the provider cannot be reached */
  authorizationUrl(secrets: FlowSecrets, redirectUri: string): Promise<string>;
  /**
   * Exchanges the code, and checks all there is to check: state, issuer, audience, times, nonce and the signature by a key of
   * the provider.
   * @param callbackUrl as the browser came back
   * @throws Problem 401, 503
   */
  profile(callbackUrl: URL, secrets: FlowSecrets): Promise<ExternalProfile>;
}

/** Of every request to the provider, in seconds. */
const usualTimeoutSeconds = 10;
/** What is known about the provider is looked up again after this, in ms. */
const rediscoverMs = 3_600_000;

/** Algorithms with keys that only the provider has: no `none`, nothing with a shared secret (PITFALLS 60). */
const algorithms: ReadonlySet<string> = new Set([
  'RS256',
  'PS256',
  'ES256',
  'EdDSA',
  'Ed25519',
  'RS384',
  'RS512',
  'PS384',
  'PS512',
  'ES384',
  'ES512',
]);

/**
 * @param now milliseconds since 1970
 * @param timeoutSeconds of every request to the provider
 */
export const createOidcProvider = (
  config: OidcConfig,
  now: () => number,
  timeoutSeconds = usualTimeoutSeconds,
): OidcProvider => {
  let known: { readonly at: number; readonly configuration: Promise<Configuration> } | undefined;

  const discover = async (): Promise<Configuration> => {
    const issuer = new URL(config.issuer);
    const execute = issuer.protocol === 'http:' ? [allowInsecureRequests] : [];
    const found = await discovery(issuer, config.clientId, undefined, None(), { execute, timeout: timeoutSeconds });
    const server = found.serverMetadata();
    const methods = server.token_endpoint_auth_methods_supported;
    const secret = config.clientSecret;
    const basic = methods === undefined || methods.includes('client_secret_basic');
    const authentication = secret === undefined ? None() : basic ? ClientSecretBasic(secret) : ClientSecretPost(secret);
    const offered = server.id_token_signing_alg_values_supported ?? ['RS256'];
    const configuration = new Configuration(
      Object.assign(server, { id_token_signing_alg_values_supported: offered.filter((name) => algorithms.has(name)) }),
      config.clientId,
      secret,
      authentication,
    );
    configuration.timeout = timeoutSeconds;
    for (const extension of execute) extension(configuration);
    // The code comes over TLS from the provider itself; the signature is checked all the same.
    enableNonRepudiationChecks(configuration);
    return configuration;
  };

  const configured = async (): Promise<Configuration> => {
    if (known === undefined || now() - known.at > rediscoverMs) {
      const attempt = { at: now(), configuration: discover() };
      known = attempt;
      attempt.configuration.catch(() => {
        if (known === attempt) known = undefined;
      });
    }
    try {
      return await known.configuration;
    } catch (cause) {
      throw away(cause);
    }
  };

  return {
    async authorizationUrl({ state, nonce, verifier }, redirectUri) {
      const url = buildAuthorizationUrl(await configured(), {
        redirect_uri: redirectUri,
        scope: config.scopes,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    },
    async profile(callbackUrl, { state, nonce, verifier }) {
      const configuration = await configured();
      try {
        const tokens = await authorizationCodeGrant(configuration, callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw refused('no-id-token');
        const { sub } = claims;
        // Providers may keep the email out of the ID token and tell it only when asked (OpenID Connect Core 5.4).
        const more =
          claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
            ? await fetchUserInfo(configuration, tokens.access_token, sub)
            : claims;
        return {
          subject: sub,
          email: typeof more.email === 'string' ? more.email : undefined,
          emailVerified: more.email_verified === true,
          name: typeof more.name === 'string' ? more.name : undefined,
        };
      } catch (cause) {
        throw isNetworkFailure(cause) ? away(cause) : refused(reasonOf(cause), cause);
      }
    },
  };
};

const away = (cause: unknown): Problem =>
  new Problem('unavailable', 'sign_in.oidc_away', 'The identity provider cannot be reached; try again.', {
    retryAfter: 5,
    cause: new Error(reasonOf(cause)),
  });

/** 401: one answer, whatever was wrong; the reason is for the log. */
export const refused = (reason: string, cause?: unknown): Problem =>
  new Problem('unauthenticated', 'sign_in.oidc', 'Signing in through the identity provider did not work; try again.', {
    details: { reason: cause === undefined ? reason : reasonOf(cause) },
  });

/** A code of the library, or the kind of error: never its message or cause, which may hold parts of tokens. */
const reasonOf = (error: unknown): string => {
  const { code, error: oauthError, name }: { code?: unknown; error?: unknown; name?: unknown } = Object(error);
  const word = [oauthError, code, name].find((value) => typeof value === 'string') ?? 'unknown';
  return String(word)
    .replaceAll(/[^\w.-]/g, '')
    .slice(0, 64);
};

const isNetworkFailure = (error: unknown): boolean => {
  const { code, name }: { code?: unknown; name?: unknown } = Object(error);
  return code === 'OAUTH_TIMEOUT' || name === 'TimeoutError' || (error instanceof TypeError && code === undefined);
};
