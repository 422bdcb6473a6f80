import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Contract, limits, type OperationDefinition, sentence, type Violation } from '@bindery/contracts';
import {
  anonymous,
  createIdSource,
  forbidden,
  invalid,
  isProblem,
  type Place,
  type Principal,
  type ProblemKind,
} from '@bindery/service-kit';
import type { GatewayConfig } from '../config.ts';
import { hasBody, parseJson, readBody, requireJson } from '../http/body.ts';
import { entityTag, ifMatchOf, noneMatch, prefersMinimal, underAnyOf } from '../http/conditions.ts';
import { errorBody, errorHeaders, statusOf } from '../http/errors.ts';
import { parseQuery } from '../http/query.ts';
import { authenticate, type ResolveToken } from './authenticate.ts';
import type { Callers } from './callers.ts';
import { callerAddress, type RequestScope } from './context.ts';
import type { DenialReporter } from './denials.ts';
import type { CallOperation, Hydrate } from './embeds.ts';
import { fingerprintOf, type Idempotency, idempotencyKeyOf, type KeptAnswer } from './idempotency.ts';
import type { RateLimiter } from './rate-limit.ts';
import { requireScope } from './scopes.ts';
import { createAnswerSeal } from './sealed-answers.ts';
import { sessionSecret } from './session.ts';
import { createStillVisible, standingOf } from './standing.ts';

/** What the pipeline works with. */
export interface PipelineParts {
  readonly contract: Contract;
  readonly config: Pick<GatewayConfig, 'trustedProxyHops' | 'requestDeadlineMs'>;
  readonly resolveToken: ResolveToken;
  /** The same for the secrets in session cookies. */
  readonly resolveSession: ResolveToken;
  readonly limiter: RateLimiter;
  readonly callers: Callers;
  readonly idempotency: Idempotency;
  readonly hydrate: Hydrate;
  readonly denials: Pick<DenialReporter, 'note'>;
  readonly call: CallOperation;
}

/** One request on its way to an operation. */
export interface OperationRequestFacts {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly params: Record<string, string>;
  readonly query: string;
  readonly scope: RequestScope;
  /** What the request takes up. */
  readonly place: Pick<Place, 'countFor'>;
  /** Headers that the answer carries whatever happens; filled on the way. */
  readonly headers: Record<string, string>;
}

/** Handles requests of one operation, from authentication to the answer (DESIGN section 3). Failures are thrown. */
export type RunOperation = (facts: OperationRequestFacts) => Promise<KeptAnswer>;

/** Refusals that the same input always gets. */
const lastingRefusals: ReadonlySet<ProblemKind> = new Set(['invalid', 'too-large', 'unsupported-media-type']);

/** An idempotent request is given this much more time than its deadline before a repeat may take over. */
const leaseMarginMs = 5000;

/** Prepares everything about an operation that does not depend on the request. */
export function createRunOperation(operation: OperationDefinition, parts: PipelineParts): RunOperation {
  const { contract, config, limiter, callers, idempotency, hydrate, denials, call } = parts;
  const checks = contract.checks(operation);
  const stillVisible = createStillVisible(operation, contract, call);
  const bodyLimit = limits.body[operation.bodyLimit ?? 'standard'];
  const leaseMs = (operation.deadlineMs ?? config.requestDeadlineMs) + leaseMarginMs;

  /** @param caller told who it is as soon as that is known, also when it is refused after that */
  const whoAsks = async (
    { request, scope, place, headers }: OperationRequestFacts,
    caller: { principal: Principal },
  ): Promise<Principal> => {
    if (operation.access === 'anonymous') return anonymous;
    const address = callerAddress(request, config.trustedProxyHops);
    let principal: Principal;
    try {
      principal = await authenticate(request, scope.internal(), parts.resolveToken, address, parts.resolveSession);
      caller.principal = principal;
    } catch (error) {
      if (isProblem(error) && error.kind === 'unauthenticated') {
        callers.unknown(request);
        await limiter.failedAuthentication(address);
      }
      throw error;
    }
    const counting = place.countFor(callers.known(request, principal.id));
    if (counting !== undefined) await counting;
    Object.assign(headers, await limiter.request(principal.tokenId));
    if (operation.surface === 'admin' && !principal.instanceAdmin) {
      throw forbidden('admin.required', 'Only instance administrators may use /admin/v1.');
    }
    requireScope(operation, principal);
    return principal;
  };

  const readInput = async ({
    request,
    response,
    scope,
  }: OperationRequestFacts): Promise<{ raw: Buffer | undefined; body: unknown }> => {
    if (!hasBody(request)) return { raw: undefined, body: requireBody(operation, undefined) };
    const raw = await readBody(request, response, bodyLimit, scope.signal);
    if (raw.length === 0) return { raw: undefined, body: requireBody(operation, undefined) };
    requireJson(request.headers['content-type']);
    const body = parseJson(raw);
    refuse(checks.body(body));
    return { raw, body: operation.body ? body : undefined };
  };

  const answerOf = async (
    facts: OperationRequestFacts,
    principal: Principal,
    given: { readonly query: unknown; readonly body: unknown },
    seed: string | undefined,
  ): Promise<KeptAnswer> => {
    const { request, scope, params } = facts;
    const context = scope.context(principal, seed === undefined ? undefined : createIdSource(seed));
    const answer = await underAnyOf(ifMatchOf(request.headers['if-match']), (ifMatch) =>
      call(operation, context, { params, ...given, ...(ifMatch !== undefined && { ifMatch }) }),
    );
    if (operation.erasesUser) await idempotency.forget(params.userId ?? principal.id);
    const headers: Record<string, string> = {};
    if (answer.location !== undefined) headers.location = answer.location;
    if (answer.bodyText === undefined && answer.body === undefined) {
      if (answer.etag !== undefined) headers.etag = entityTag(answer.etag, '');
      return { status: answer.status, headers, body: undefined };
    }
    const plan = contract.embedPlan(operation, answer.status);
    const body = plan
      ? JSON.stringify(await hydrate(plan, answer.body, context))
      : (answer.bodyText ?? JSON.stringify(answer.body));
    if (answer.etag !== undefined) headers.etag = entityTag(answer.etag, body);
    if (operation.minimal && prefersMinimal(request.headers.prefer)) {
      headers['preference-applied'] = 'return=minimal';
      return { status: 204, headers, body: undefined };
    }
    const fresh = headers.etag !== undefined && operation.method === 'GET';
    if (fresh && noneMatch(request.headers['if-none-match'], headers.etag ?? '')) {
      return { status: 304, headers, body: undefined };
    }
    return { status: answer.status, headers, body };
  };

  const run = async (facts: OperationRequestFacts, caller: { principal: Principal }): Promise<KeptAnswer> => {
    const { request, params } = facts;
    const principal = await whoAsks(facts, caller);
    refuse(checks.params(params));
    const query = parseQuery(facts.query);
    refuse(checks.query(query));
    const key = operation.method === 'POST' ? idempotencyKeyOf(request.headers['idempotency-key']) : undefined;
    const { raw, body } = await readInput(facts);
    if (key === undefined) return answerOf(facts, principal, { query, body }, undefined);
    const { answer, replayed } = await idempotency.run(
      {
        key,
        // A sealed answer can only be opened with the token that sealed it, so another token is another caller.
        principalId: operation.secret ? `${principal.id} ${principal.tokenId}` : principal.id,
        ...(operation.secret && { seal: createAnswerSeal(credentialsOf(request, facts.scope.baseUrl), key) }),
        operationId: operation.id,
        fingerprint: fingerprintOf(operation.method, request.url ?? '', raw),
        standing: standingOf(principal),
        mayReplay: () => stillVisible(facts.scope, principal, params),
        leaseMs,
      },
      (seed) => keepRefusals(() => answerOf(facts, principal, { query, body }, seed)),
    );
    return replayed ? { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } } : answer;
  };

  return async (facts) => {
    const caller = { principal: anonymous };
    try {
      return await run(facts, caller);
    } catch (error) {
      if (isProblem(error) && (error.kind === 'forbidden' || error.kind === 'unauthenticated')) {
        const { request, scope, params } = facts;
        const address = callerAddress(request, config.trustedProxyHops);
        denials.note({ operation, params, problem: error, principal: caller.principal, address, now: scope.now });
      }
      throw error;
    }
  };
}

/**
 * Of the refusals only those of the input itself are kept, since no repeat can change them. What is missing, not allowed
 * or in the way today may be different tomorrow.
 */
async function keepRefusals(work: () => Promise<KeptAnswer>): Promise<KeptAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!isProblem(error) || !lastingRefusals.has(error.kind)) throw error;
    const status = statusOf[error.kind];
    return { status, headers: errorHeaders(error), body: JSON.stringify(errorBody(status, error.message)) };
  }
}

/** The secret that the caller showed: a token or a session. */
const credentialsOf = (request: IncomingMessage, baseUrl: string): string => {
  const credentials = request.headers.authorization ?? sessionSecret(request, baseUrl);
  if (credentials === undefined) throw new Error('an answer with a secret needs a caller');
  return credentials;
};

function requireBody(operation: OperationDefinition, body: undefined): undefined {
  if (operation.body && !operation.bodyOptional) throw invalid('body.missing', 'body: is required');
  return body;
}

function refuse(violations: readonly Violation[] | undefined): void {
  if (violations)
    throw invalid('input.invalid', sentence(violations), { fields: violations.map(({ field }) => field) });
}
