import type { IncomingMessage } from 'node:http';
import { type OperationContext, type Principal, Problem } from '@bindery/service-kit';
import { digestOf } from './digests.ts';
import type { ResolveToken } from './resolve-token.ts';
import { principalOfSession } from './session.ts';

export type { ResolveToken } from './resolve-token.ts';

/** RFC 6750 section 2.1, bounded. */
const bearer = /^bearer +([A-Za-z0-9._~+/-]{1,4096}=*)$/i;

const missing = (): Problem =>
  new Problem('unauthenticated', 'token.missing', 'Authorization: a bearer token is needed in this header.');
const malformed = (message: string): Problem => new Problem('unauthenticated', 'token.malformed', message);

/**
 * The bearer token of a request. Tokens anywhere else (query, body, cookies) are not looked at.
 * @throws Problem 401
 */
export function bearerToken(request: IncomingMessage): string {
  const header = request.headers.authorization;
  if (header === undefined) throw missing();
  if (countAuthorization(request.rawHeaders) > 1) throw malformed('Authorization: must be sent once.');
  const token = bearer.exec(header)?.[1];
  if (token === undefined) throw malformed('Authorization: must be "Bearer" and a token.');
  return token;
}

/** The parsed headers keep only the first of several; the raw ones have all. */
function countAuthorization(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 13 && name.toLowerCase() === 'authorization') count += 1;
  }
  return count;
}

/**
 * Who is asking: by a token, else by the session of a browser. A request with an `Authorization` header is decided by that
 * alone.
 * @throws Problem 401; 403 for a session that another site's page tries to use
 */
export async function authenticate(
  request: IncomingMessage,
  context: OperationContext,
  resolve: ResolveToken,
  address: string,
  resolveSession: ResolveToken,
): Promise<Principal> {
  const signedIn = await principalOfSession(request, context, resolveSession, address);
  if (signedIn !== undefined) return signedIn;
  const principal = await resolve(digestOf(bearerToken(request)), context, address);
  if (principal) return principal;
  throw new Problem(
    'unauthenticated',
    'token.invalid',
    'Authorization: the token is not valid; it may have been revoked or expired.',
  );
}
