import type { IncomingMessage } from 'node:http';
import {
  forbidden,
  type OperationContext,
  type Principal,
  Problem,
  readCookie,
  sessionCookie,
} from '@bindery/service-kit';
import { digestOf } from './digests.ts';
import type { ResolveToken } from './resolve-token.ts';

const safeMethods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a page of this very instance made the request. Browsers say so: by `Sec-Fetch-Site`, which no page can set, and by
 * `Origin`. Where there is neither, nothing is known.
 */
const fromOwnPage = (request: IncomingMessage, baseUrl: string): boolean | undefined => {
  const site = request.headers['sec-fetch-site'];
  const { origin, host } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === undefined ? undefined : true;
  if (!URL.canParse(origin)) return false;
  // The name by which the browser reached us is as good as the public one: the cookie is only ever sent to where it came from.
  return new URL(origin).origin === new URL(baseUrl).origin || new URL(origin).host === host;
};

/** The secret of the session that a request shows, if any. A request with an `Authorization` header shows none. */
export const sessionSecret = (request: IncomingMessage, baseUrl: string): string | undefined =>
  request.headers.authorization === undefined ? readCookie(request.headers.cookie, sessionCookie, baseUrl) : undefined;

/**
 * Refuses what another site may have made the browser do (CSRF): a session changes something only for pages of this instance.
 * @throws Problem 403
 */
export const requireOwnPage = (request: IncomingMessage, baseUrl: string): void => {
  if (fromOwnPage(request, baseUrl) !== true)
    throw forbidden(
      'session.cross_origin',
      'A session may only be used by pages of this instance; others use a token.',
    );
};

/**
 * Who a session cookie stands for.
 * @returns undefined when there is none, or when another site made the browser ask
 * @throws Problem 401 for a session that does not work (any more), 403 for a change that another site may have made
 */
export const principalOfSession = async (
  request: IncomingMessage,
  context: OperationContext,
  resolve: ResolveToken,
  address: string,
): Promise<Principal | undefined> => {
  const secret = sessionSecret(request, context.baseUrl);
  if (secret === undefined) return undefined;
  if (!safeMethods.has(request.method)) requireOwnPage(request, context.baseUrl);
  // Following a link from elsewhere is fine; parts of other sites' pages get nothing that depends on who is signed in.
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers;
  if ((site === 'cross-site' || site === 'same-site') && mode !== 'navigate') return undefined;
  const principal = await resolve(digestOf(secret), context, address);
  if (principal) return principal;
  throw new Problem('unauthenticated', 'session.invalid', 'The session is not valid; sign in again.');
};
