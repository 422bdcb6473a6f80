import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Contract, limits, type OperationDefinition } from '@bindery/contracts';
import type { RawRoute } from '@bindery/service-kit';
import {
  type Admission,
  type Clock,
  createAdmission,
  defaultAdmissionLimits,
  invalid,
  isProblem,
  notFound,
  type Place,
  Problem,
} from '@bindery/service-kit';
import type { RepeatedWarnings, Span, Telemetry } from '@bindery/telemetry';
import type { GatewayConfig } from './config.ts';
import { CallerGone } from './http/body.ts';
import { preflightHeaders } from './http/cors.ts';
import { sendFailure } from './http/errors.ts';
import { requestIdOf } from './http/request-id.ts';
import { createRouteTable, type Match, splitTarget, type Target } from './http/router.ts';
import { send } from './http/send.ts';
import type { Callers } from './pipeline/callers.ts';
import { callerAddress, RequestScope } from './pipeline/context.ts';
import { createRunOperation, type PipelineParts, type RunOperation } from './pipeline/operation-pipeline.ts';
import { createRequestMetrics } from './request-metrics.ts';

/** Where a surface is mounted. Internal operations are mounted nowhere. */
const prefixes = { public: '/v1', admin: '/admin/v1' } as const;

type Route =
  | { readonly kind: 'operation'; readonly operation: OperationDefinition; readonly run: RunOperation }
  | { readonly kind: 'raw'; readonly route: RawRoute };

export interface ListenerOptions {
  readonly contract: Contract;
  readonly config: Pick<GatewayConfig, 'requestDeadlineMs' | 'trustedProxyHops' | 'admission' | 'stalledMs'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly rawRoutes: readonly RawRoute[];
  readonly baseUrl: () => string;
  /** Takes every path that is neither an operation nor a raw route. */
  readonly rest: RequestListener;
  readonly callers: Callers;
  readonly repeats: RepeatedWarnings;
  readonly parts: PipelineParts;
}

/** One request while it is handled. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** When it came, by the monotonic clock, in ms. */
  readonly cameAt: number;
  /** Of the caller. */
  readonly address: string;
  /** Headers that the answer carries whatever happens. */
  readonly headers: Record<string, string>;
}

/** Administration has places of its own, so that whoever is to help finds one; rebuilds hold theirs for long. */
const administrationPlaces = { inFlight: 64, waiting: 64 } as const;

/** Answered whatever else there is to do: whoever asks decides whether the process goes on. */
const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** An answer of which the caller takes nothing for so long is given up, in ms: its place is for others. */
const defaultStalledMs = 60_000;

/** A caller that went away has no status; this one is only counted. */
const callerGoneStatus = 499;

/** Takes requests to operations and raw routes; hands everything else on. */
export function createListener(options: ListenerOptions): {
  /** Everything. */
  readonly all: RequestListener;
  /** Operations and raw routes; other paths get a 404. */
  readonly operations: RequestListener;
} {
  const { contract, clock, telemetry, parts, callers, repeats } = options;
  const { logger, tracer } = telemetry;
  const metrics = createRequestMetrics(telemetry.metrics);
  const table = createRouteTable<Route>([
    ...[...contract.operations.values()].flatMap((operation) =>
      operation.surface === 'internal'
        ? []
        : [
            {
              method: operation.method,
              path: pathOf(operation),
              route: { kind: 'operation' as const, operation, run: createRunOperation(operation, parts) },
            },
          ],
    ),
    ...options.rawRoutes.map((route) => ({
      method: route.method,
      path: route.path,
      route: { kind: 'raw' as const, route },
    })),
  ]);

  // Transfers are as long as their callers are slow: they take no places from operations.
  const { admission = defaultAdmissionLimits, trustedProxyHops } = options.config;
  const operationPlaces = createAdmission(admission, telemetry.metrics, 'operations');
  const transferPlaces = createAdmission(admission, telemetry.metrics, 'transfers');
  const adminPlaces = createAdmission({ ...admission, ...administrationPlaces }, telemetry.metrics, 'administration');
  const placesFor = (route: Route): Admission => {
    if (route.kind === 'raw') return transferPlaces;
    return route.operation.surface === 'admin' ? adminPlaces : operationPlaces;
  };
  const stalledMs = options.config.stalledMs ?? defaultStalledMs;

  /** Gives a place back when the answer has been taken: what nobody takes is memory that is in use. */
  const leaveWhenTaken = (place: Place, response: ServerResponse): void => {
    if (response.writableLength === 0 || response.destroyed) {
      place.leave();
      return;
    }
    response.setTimeout(stalledMs, () => response.destroy());
    response.once('close', () => place.leave());
  };
  const enter = (places: Admission, { request, response, address }: Exchange): Place | Promise<Place> =>
    places.enter(response, callers.of(request, address));

  const runOperation = async (
    { request, response, requestId, cameAt, headers }: Exchange,
    { operation, run }: Extract<Route, { kind: 'operation' }>,
    match: Match<Route>,
    target: Target,
    place: Place,
    span: Span | undefined,
  ): Promise<number> => {
    const scope = new RequestScope(response, {
      requestId,
      now: clock.now(),
      baseUrl: options.baseUrl(),
      deadlineMs: (operation.deadlineMs ?? options.config.requestDeadlineMs) - (performance.now() - cameAt),
    });
    scope.traceparent = span?.traceparent;
    const answer = await run({ request, response, params: match.params, query: target.query, scope, place, headers });
    send(request, response, answer.status, { ...headers, ...answer.headers }, answer.body, requestId);
    return answer.status;
  };

  const runRaw = async (
    { request, response, requestId, address }: Exchange,
    route: RawRoute,
    match: Match<Route>,
    target: Target,
  ): Promise<number> => {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    if (response.destroyed) throw new CallerGone('the caller was gone before the route began');
    response.setHeader('x-request-id', requestId);
    response.setHeader('x-content-type-options', 'nosniff');
    response.setTimeout(stalledMs, () => {
      // Before that, it is the route that takes its time.
      if (response.headersSent) response.destroy();
    });
    await route.handle(request, response, {
      requestId,
      params: match.params,
      query: target.query,
      signal: gone.signal,
      now: clock.now(),
      baseUrl: options.baseUrl(),
      address,
      caller: callers.of(request, address),
    });
    return response.statusCode;
  };

  /** Handles one matched request inside its span; failures become answers here. */
  const handle = async (exchange: Exchange, match: Match<Route>, target: Target, span?: Span): Promise<number> => {
    const { route } = match;
    let place: Place | undefined;
    try {
      const entering = enter(placesFor(route), exchange);
      place = entering instanceof Promise ? await entering : entering;
      if (route.kind === 'raw') return await runRaw(exchange, route.route, match, target);
      return await runOperation(exchange, route, match, target, place, span);
    } catch (error) {
      const { request, response, requestId, headers } = exchange;
      if (error instanceof CallerGone || response.destroyed) return callerGoneStatus;
      if (isProblem(error)) Object.assign(headers, error.details.headers);
      const status = sendFailure(request, response, error, { requestId, logger, repeats, headers });
      if (status >= 500) span?.fail(error);
      return status;
    } finally {
      if (place !== undefined) leaveWhenTaken(place, exchange.response);
    }
  };

  const traced = (exchange: Exchange, match: Match<Route>, target: Target): Promise<number> => {
    if (!tracer.enabled) return handle(exchange, match, target);
    const { request, requestId } = exchange;
    const { route } = match;
    const path = route.kind === 'raw' ? route.route.path : pathOf(route.operation);
    const parent = request.headers.traceparent;
    // Never the address itself: it may hold what only the caller may know (links to files, sign-in links).
    const attributes = {
      'http.request.method': request.method ?? '',
      'http.route': path,
      'bindery.operation': nameOf(route),
      'bindery.request.id': requestId,
    };
    return tracer.span(
      `${request.method} ${path}`,
      { kind: 'server', attributes, parent: typeof parent === 'string' ? parent : undefined },
      async (span) => {
        const status = await handle(exchange, match, target, span);
        span.set('http.response.status_code', status);
        return status;
      },
    );
  };

  /** Everything that is no operation: pages and documents that anybody may ask for. */
  const handleRest = async (exchange: Exchange, path: string, rest: RequestListener): Promise<void> => {
    const { request, response, requestId } = exchange;
    if (healthPaths.has(path)) {
      rest(request, response);
      return;
    }
    try {
      const place = await enter(transferPlaces, exchange);
      response.once('close', () => place.leave());
      if (response.destroyed) {
        // It does not say so again.
        place.leave();
        return;
      }
      response.setTimeout(stalledMs, () => response.destroy());
      rest(request, response);
    } catch (error) {
      if (!response.destroyed) sendFailure(request, response, error, { requestId, logger, repeats });
    }
  };

  const listen =
    (rest: RequestListener): RequestListener =>
    (request, response) => {
      const started = performance.now();
      const url = request.url ?? '/';
      const exchange: Exchange = {
        request,
        response,
        requestId: requestIdOf(request.headers['x-request-id']),
        cameAt: started,
        address: callerAddress(request, trustedProxyHops),
        headers: {},
      };
      let match: Match<Route> | undefined;
      try {
        if (url.length > limits.requestTarget.maxLength) {
          const { maxLength } = limits.requestTarget;
          throw new Problem(
            'uri-too-long',
            'target.too_long',
            `The address must have at most ${maxLength} characters.`,
          );
        }
        if (request.headers.host === undefined && request.httpVersion === '1.1') {
          throw invalid('host.missing', 'Host: is required');
        }
        if (request.method === 'OPTIONS') {
          send(request, response, 204, preflightHeaders, undefined, exchange.requestId);
          return;
        }
        const target = splitTarget(url);
        match = table.find(request.method ?? '', target.path);
        if (!match) {
          handleRest(exchange, target.path, rest).catch((error: unknown) =>
            logger.error('a request was not answered', { requestId: exchange.requestId, error }),
          );
          return;
        }
        const found = match;
        traced(exchange, found, target).then(
          (status) => metrics.record(nameOf(found.route), status, performance.now() - started),
          (error: unknown) => logger.error('a request was not answered', { requestId: exchange.requestId, error }),
        );
      } catch (error) {
        const status = sendFailure(request, response, error, { requestId: exchange.requestId, logger, repeats });
        metrics.record('unmatched', status, performance.now() - started);
      }
    };

  const unknown: RequestListener = (request, response) => {
    const requestId = requestIdOf(request.headers['x-request-id']);
    sendFailure(request, response, notFound('path'), { requestId, logger, repeats });
  };
  return { all: listen(options.rest), operations: listen(unknown) };
}

/** Where an operation is, parameters in braces. */
const pathOf = ({ surface, path }: OperationDefinition): string =>
  `${surface === 'internal' ? '' : prefixes[surface]}${path === '/' ? '' : path}`;

const nameOf = (route: Route): string => (route.kind === 'raw' ? route.route.path : route.operation.id);
