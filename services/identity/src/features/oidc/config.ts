/** The OpenID provider of the instance. */
export interface OidcConfig {
  /** Issuer identifier; `/.well-known/openid-configuration` is below it. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client. */
  readonly clientSecret: string | undefined;
  /** Separated by spaces; `openid` is among them. */
  readonly scopes: string;
  /** Domains, in lower case, whose people may sign in; empty: people of all domains. */
  readonly emailDomains: readonly string[];
  /** Whether people without an account get one. */
  readonly createUsers: boolean;
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Whether an issuer may be used: over https, or on this very machine, for trying things out. */
export const acceptableIssuer = (issuer: string): boolean => {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'https:' || loopback.test(hostname);
};

/** Where the provider sends people back to; registered there. */
export const callbackPath = '/sign-in/oidc/callback';
