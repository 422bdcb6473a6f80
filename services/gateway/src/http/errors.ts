import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorBody } from '@bindery/contracts';
import { asProblem, type Problem, type ProblemKind } from '@bindery/service-kit';
import type { Logger, RepeatedWarnings } from '@bindery/telemetry';
import { send } from './send.ts';

/** The only place where a kind of failure becomes an HTTP status. */
export const statusOf: Readonly<Record<ProblemKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  conflict: 409,
  precondition: 412,
  'too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  'rate-limited': 429,
  internal: 500,
  unavailable: 503,
};

/** The body of a failure (gaps-filled section 2). */
export const errorBody = (code: number, message: string): ErrorBody => ({ error: { code, message } });

/** Headers that belong to a failure. */
export function errorHeaders(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = {};
  if (problem.retryAfter !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(problem.retryAfter)));
  if (problem.kind === 'unauthenticated') {
    const cause = problem.code === 'token.missing' ? '' : `, error="${challengeError(problem)}"`;
    headers['www-authenticate'] = `Bearer realm="bindery"${cause}`;
  }
  const { allow } = problem.details;
  if (problem.kind === 'method-not-allowed' && typeof allow === 'string') headers.allow = allow;
  return headers;
}

const challengeError = (problem: Problem): string =>
  problem.code === 'token.malformed' ? 'invalid_request' : 'invalid_token';

/** Who failed, for the answer and the log. */
export interface FailureFacts {
  readonly requestId: string;
  readonly logger: Logger;
  /** For what may come with every request while something is wrong. */
  readonly repeats: RepeatedWarnings;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers a request with a failure; every failure of the gateway ends here. Nothing is written when the answer has
 * begun or the caller is gone.
 * @returns the status
 */
export function sendFailure(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  facts: FailureFacts,
): number {
  const problem = asProblem(error, facts.requestId);
  const status = statusOf[problem.kind];
  if (status >= 500) {
    const line = {
      requestId: facts.requestId,
      method: request.method,
      code: problem.code,
      error: problem.cause ?? problem,
    };
    if (problem.kind === 'internal') facts.logger.error('request failed', line);
    else facts.repeats.warn(problem.code, 'request not served', line);
  }
  if (response.headersSent) {
    response.destroy();
    return status;
  }
  const body = JSON.stringify(errorBody(status, problem.message));
  send(request, response, status, { ...facts.headers, ...errorHeaders(problem) }, body, facts.requestId);
  return status;
}
