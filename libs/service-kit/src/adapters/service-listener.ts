import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { gaugeReady, type Telemetry } from '@bindery/telemetry';
import {
  type Admission,
  type AdmissionLimits,
  createAdmission,
  defaultAdmissionLimits,
  type Place,
  shareCode,
} from '../admission.ts';
import { asProblem } from '../as-problem.ts';
import { Problem } from '../errors.ts';
import type { Service } from '../operation.ts';
import { askParkedWork, isParkedCall } from '../parked-work.ts';
import type { RawRoute } from '../raw-route.ts';
import { createTokenCheck } from '../service-tokens.ts';
import { CallEnd } from './call-end.ts';
import { createOperationServer, readJson } from './http-server.ts';
import {
  adminPath,
  callerHeader,
  callPath,
  notHandledHeader,
  rawContextHeader,
  rawPath,
  rawProblemHeader,
  serviceTokenHeader,
  toWire,
  type WireRawContext,
  type WireResult,
} from './wire.ts';

export interface ServiceListenerOptions {
  readonly service: Pick<Service, 'name' | 'handlers' | 'notReady' | 'status' | 'rebuild' | 'parked'>;
  readonly rawRoutes: readonly RawRoute[];
  /** Shared secrets of the instance's services, any of which is accepted: several while they are replaced. At least one. */
  readonly tokens: readonly string[];
  readonly telemetry: Telemetry;
  /** True once it is to end: nothing new is begun. */
  readonly ending: () => boolean;
  /** How much is taken on at once. Default: {@link defaultAdmissionLimits}. */
  readonly admission?: AdmissionLimits;
}

const maxAdminBytes = 64 * 1024;
/** Longest that the body of such a call is waited for, in ms. */
const adminBodyMs = 10_000;

/**
 * What a service's own process answers: operations, raw routes and administration to the other services of the instance,
 * health and metrics to whoever runs it. Not for the outside.
 */
export function createServiceListener(options: ServiceListenerOptions): RequestListener {
  const { service, telemetry, ending, admission = defaultAdmissionLimits } = options;
  const { logger } = telemetry;
  const accepts = createTokenCheck(options.tokens);
  const answer = createOperationServer({ handlers: service.handlers, logger, tracer: telemetry.tracer });
  const callPlaces = createAdmission(admission, telemetry.metrics, 'operations');
  const transferPlaces = createAdmission(admission, telemetry.metrics, 'transfers');
  const routes = new Map(options.rawRoutes.map((route) => [`${route.method} ${route.path}`, route]));

  const json = (
    response: ServerResponse,
    status: number,
    body: unknown,
    headers: Record<string, string> = {},
  ): void => {
    const text = JSON.stringify(body);
    // Nobody reads when it was answered; and text leaves in one piece with its head, bytes in two.
    response.sendDate = false;
    const length = Buffer.byteLength(text);
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
    // Text that is all ASCII need not be encoded.
    response.end(text, length === text.length ? 'latin1' : 'utf8');
  };

  gaugeReady(telemetry.metrics, service.name, () => !ending() && service.notReady().length === 0);
  const health = async (path: string, response: ServerResponse): Promise<boolean> => {
    if (path === '/healthz') json(response, 200, { status: 'ok' });
    else if (path === '/readyz') {
      const missing = ending() ? ['stopping'] : service.notReady();
      json(response, missing.length === 0 ? 200 : 503, {
        status: missing.length === 0 ? 'ready' : 'not ready',
        missing,
      });
    } else if (path === '/metrics') {
      const text = await telemetry.scrape();
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
    } else return false;
    return true;
  };

  const runRaw = async (request: IncomingMessage, response: ServerResponse, gone: AbortSignal): Promise<void> => {
    const context: WireRawContext = JSON.parse(
      Buffer.from(String(request.headers[rawContextHeader] ?? ''), 'base64url').toString(),
    );
    const route = routes.get(`${request.method === 'HEAD' ? 'GET' : request.method} ${context.route}`);
    if (route === undefined) throw new Problem('not-found', 'internal.path', 'No such internal path.');
    request.url = (request.url ?? '').slice(rawPath.length);
    const { params, query, requestId, baseUrl, address } = context;
    const parent = request.headers.traceparent;
    const attributes = { 'http.request.method': route.method, 'http.route': route.path };
    const options = { kind: 'server' as const, attributes, parent: typeof parent === 'string' ? parent : undefined };
    await telemetry.tracer.span(`${route.method} ${route.path}`, options, () =>
      route.handle(request, response, {
        ...{ params, query, requestId, baseUrl, address },
        now: new Date(context.now),
        signal: gone,
      }),
    );
  };

  const raw = async (request: IncomingMessage, response: ServerResponse, gone: AbortSignal): Promise<void> => {
    try {
      await runRaw(request, response, gone);
    } catch (error) {
      if (response.headersSent || response.destroyed) throw error;
      const problem = asProblem(error, String(request.headers['x-request-id'] ?? 'unknown'));
      if (problem.kind === 'internal') logger.error('a raw request failed', { error: problem.cause ?? problem });
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      const told = Buffer.from(JSON.stringify(toWire(problem))).toString('base64url');
      // What was not read of the request is not read any more.
      const headers = { [rawProblemHeader]: told, ...(request.complete ? {} : { connection: 'close' }) };
      response.writeHead(500, headers).end();
    }
  };

  const readAdmin = (request: IncomingMessage): Promise<unknown> => {
    const end = new CallEnd();
    const timer = setTimeout(() => end.abort(), adminBodyMs).unref();
    return readJson(request, maxAdminBytes, end).finally(() => clearTimeout(timer));
  };
  const administer = async (what: string, request: IncomingMessage): Promise<WireResult> => {
    try {
      if (what === 'ready') return { answer: { missing: service.notReady() } };
      if (what === 'status') return { answer: await service.status() };
      if (what === 'rebuild') {
        const { projections } = Object(await readAdmin(request));
        return { answer: await service.rebuild(projections ?? undefined) };
      }
      if (isParkedCall(what)) return { answer: await askParkedWork(service.parked, what, await readAdmin(request)) };
      throw new Problem('not-found', 'internal.path', 'No such internal path.');
    } catch (error) {
      const problem = asProblem(error, String(request.headers['x-request-id'] ?? 'unknown'));
      if (problem.kind === 'internal') logger.error('administration failed', { error: problem.cause ?? problem, what });
      return { problem: toWire(problem) };
    }
  };

  /** Does the work when there is a place for it; says that it did not begin when there is none. */
  const placed = async (
    places: Admission,
    request: IncomingMessage,
    response: ServerResponse,
    work: () => Promise<void>,
  ): Promise<void> => {
    const caller = request.headers[callerHeader];
    let place: Place;
    try {
      const entering = places.enter(response, typeof caller === 'string' ? caller : undefined);
      place = entering instanceof Promise ? await entering : entering;
    } catch (error) {
      // There is one for every request too many, so they are counted and not logged.
      const problem = asProblem(error, '');
      const refusal = problem.code === shareCode ? 'share' : 'busy';
      if (!response.destroyed) json(response, 503, toWire(problem), { [notHandledHeader]: refusal });
      return;
    }
    try {
      await work();
    } finally {
      place.leave();
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const end = new CallEnd();
    // Before anything is waited for, since nobody says it twice.
    response.on('close', () => {
      // Aborting costs an error with its stack: not for every request that went well.
      if (!response.writableFinished) end.abort();
    });
    if (request.method === 'GET' && (await health(path, response))) return;
    if (!accepts(String(request.headers[serviceTokenHeader] ?? ''))) {
      // The caller's caller is not told that *it* has no access: with another token the services are only unreachable.
      json(response, 401, {}, { [notHandledHeader]: 'token', connection: 'close' });
      return;
    }
    if (ending()) {
      await unread(request);
      json(response, 503, {}, { [notHandledHeader]: 'ending', connection: 'close' });
      return;
    }
    if (path.startsWith(callPath)) {
      const id = decodeURIComponent(path.slice(callPath.length));
      await placed(callPlaces, request, response, async () => {
        const result = await answer(id, request, end);
        // A body that did not come in time is not waited for any more.
        const unread = end.signal.aborted && !request.complete;
        json(response, 200, result, unread ? { connection: 'close' } : {});
      });
    } else if (path.startsWith(`${rawPath}/`))
      await placed(transferPlaces, request, response, () => raw(request, response, end.signal));
    else if (path.startsWith(adminPath)) json(response, 200, await administer(path.slice(adminPath.length), request));
    else json(response, 404, { status: 'no such path' });
  };

  return (request, response) => {
    handle(request, response).catch((error: unknown) => {
      logger.error('an internal request was not answered', { error, path: request.url });
      response.destroy();
    });
  };
}

/** Lets the rest of a body go by: what closes before it has come in is reset, and the answer may be lost with it. */
async function unread(request: IncomingMessage): Promise<void> {
  request.resume();
  if (!request.complete) await finished(request, { writable: false }).catch(() => undefined);
}
