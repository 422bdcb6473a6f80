/**
 * The cookie of a session (issue: signing in). On https it has the prefix `__Host-`, so that no other host and no insecure
 * page can set it; on plain http, which browsers only let pass for tests on localhost, neither prefix nor `Secure` works.
 */

/** How long browsers keep a cookie at most, in seconds (RFC 6265bis). */
const longestSeconds = 400 * 86_400;

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith('https:');

/** Name of a cookie of ours under this public address. */
export const cookieName = (name: string, baseUrl: string): string =>
  isSecure(baseUrl) ? `__Host-bindery_${name}` : `bindery_${name}`;

/**
 * A `Set-Cookie` header value: for this host alone, not readable by scripts, not sent with requests that other sites make
 * (other than by following a link).
 * @param maxAgeSeconds 0 removes the cookie
 */
export const setCookie = (name: string, value: string, baseUrl: string, maxAgeSeconds: number): string =>
  [
    `${cookieName(name, baseUrl)}=${value}`,
    'Path=/',
    `Max-Age=${Math.max(0, Math.min(longestSeconds, Math.floor(maxAgeSeconds)))}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(isSecure(baseUrl) ? ['Secure'] : []),
  ].join('; ');

const acceptableValue = /^[A-Za-z0-9._~+/=-]{1,2048}$/;

/**
 * The value of a cookie of ours in a `Cookie` header.
 * @returns undefined when it is absent, sent twice (two hosts may have set it; neither is trusted) or malformed
 */
export const readCookie = (header: string | undefined, name: string, baseUrl: string): string | undefined => {
  if (header === undefined) return undefined;
  const wanted = `${cookieName(name, baseUrl)}=`;
  const found = header
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(wanted))
    .map((part) => part.slice(wanted.length));
  const [value] = found;
  return found.length === 1 && value !== undefined && acceptableValue.test(value) ? value : undefined;
};

/** Name of the cookie that holds the secret of a session. */
export const sessionCookie = 'session';
