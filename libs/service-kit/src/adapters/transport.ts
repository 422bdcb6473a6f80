import type { Tracer } from '@bindery/telemetry';
import { Agent, type Dispatcher } from 'undici';
import { deadlineExceeded } from '../deadline.ts';
import { isProblem, Problem } from '../errors.ts';
import { notHandledHeader, serviceTokenHeader } from './wire.ts';

export interface TransportOptions {
  /** Addresses of the replicas of one service without a trailing slash, for example `http://content:8080`. At least one. */
  readonly urls: readonly string[];
  /** Shared secret of the instance's services: the one that is sent. */
  readonly token: string;
  /** Longest wait for an answer in ms. Default 30_000. */
  readonly timeoutMs?: number;
  /** Connections kept open to each replica. Default 64. */
  readonly connections?: number;
  /** Requests that a replica may owe answers to; more are refused at once (PITFALLS 48). Default 1000. */
  readonly mostOwed?: number;
  /** Makes each try a client span, which the service continues. Without one the caller's `traceparent` goes on as it is. */
  readonly tracer?: Tracer;
}

export interface TransportCall {
  /** Path without what differs from call to call, for spans: `/internal/operations/{operation}`. Default: no span. */
  readonly template?: string;
  /** What the caller gives the span. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Dispatcher.DispatchOptions['body'];
  /** Of the caller. */
  readonly signal: AbortSignal;
  /** Longest wait in ms. Default: that of the transport. */
  readonly timeoutMs?: number;
  /** Asking twice does no more than asking once. */
  readonly harmless: boolean;
}

/** Carries requests to the replicas of a service. */
export interface Transport {
  /** @throws Problem `unavailable` when no replica can be reached or has room, or when time is up */
  send(call: TransportCall): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

const defaultTimeoutMs = 30_000;
const defaultMostOwed = 1000;
const connectTimeoutMs = 2_000;
/** A replica that refused a connection is asked last for so long, in ms. */
const avoidMs = 1_000;
/** One that owes answers and gave none for so long, in ms, is asked last too: it may be frozen. */
const silentMs = 1_000;
/** What may be asked twice is asked elsewhere after so long, in ms, where there is another replica. */
const impatientMs = 3_000;

interface Replica {
  readonly origin: string;
  avoidUntil: number;
  /** Requests that it has not answered yet. */
  owed: number;
  /** When it answered last, or began to owe, by the monotonic clock. */
  heardAt: number;
}

const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const cutOff = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
const timedOut = new Set(['TimeoutError', 'HeadersTimeoutError', 'BodyTimeoutError']);

const codeOf = (error: unknown): string => String(Object(error).code ?? '');

const mayAskElsewhere = (error: unknown, harmless: boolean): boolean =>
  neverSent.has(codeOf(error)) ||
  (harmless && (cutOff.has(codeOf(error)) || Object(error).name === 'HeadersTimeoutError'));

/**
 * Takes the replicas in turn. One that cannot be reached, or says that it is ending and did not begin, is passed over;
 * what may have been begun is asked again only where that does no harm.
 */
export function createTransport(options: TransportOptions): Transport {
  const { timeoutMs = defaultTimeoutMs, mostOwed = defaultMostOwed } = options;
  const replicas = options.urls.map(
    (url): Replica => ({ origin: new URL(url).origin, avoidUntil: 0, owed: 0, heardAt: 0 }),
  );
  const agent = new Agent({
    connections: options.connections ?? 64,
    pipelining: 1,
    connect: { timeout: connectTimeoutMs },
  });
  let turn = 0;

  /** Once round, beginning with the next one; those that failed a moment ago come last. A single address gets a second try. */
  const inTurn = (): readonly Replica[] => {
    turn = (turn + 1) % replicas.length;
    const round = [...replicas.slice(turn), ...replicas.slice(0, turn)];
    const now = performance.now();
    const doubtful = ({ avoidUntil, owed, heardAt }: Replica): boolean =>
      avoidUntil > now || (owed > 0 && now - heardAt > silentMs);
    const sorted = [...round.filter((one) => !doubtful(one)), ...round.filter(doubtful)];
    return sorted.length === 1 ? [...sorted, ...sorted] : sorted;
  };

  const failure = (error: unknown, signal: AbortSignal): Problem => {
    if (isProblem(error)) return error;
    if (signal.aborted || timedOut.has(Object(error).name)) return deadlineExceeded.problem();
    return new Problem('unavailable', 'service.unavailable', 'A service cannot be reached at the moment.', {
      retryAfter: 1,
      cause: error,
    });
  };

  /** A client span by the conventions for HTTP; calls outside a trace (polls) get none. */
  const traced = async (
    call: TransportCall,
    origin: string,
    request: (traceparent: string | undefined) => Promise<Dispatcher.ResponseData>,
  ): Promise<Dispatcher.ResponseData> => {
    const { tracer } = options;
    const { template, attributes, method, headers } = call;
    const given = headers.traceparent;
    const parent = tracer?.current() ?? (typeof given === 'string' ? given : undefined);
    if (tracer?.enabled !== true || template === undefined || parent === undefined) return request(undefined);
    const { hostname, port } = new URL(origin);
    const own = {
      'http.request.method': method,
      'url.template': template,
      'server.address': hostname,
      ...(port === '' ? {} : { 'server.port': Number(port) }),
    };
    return tracer.span(
      `${method} ${template}`,
      { kind: 'client', parent, attributes: { ...own, ...attributes } },
      async (span) => {
        const response = await request(span.traceparent);
        span.set('http.response.status_code', response.statusCode);
        if (response.statusCode >= 500) span.fail(new Error('answered'));
        return response;
      },
    );
  };

  return {
    async send(call) {
      const { signal, body } = call;
      const within = call.timeoutMs ?? timeoutMs;
      let lastError: unknown;
      const candidates = inTurn().filter(({ owed }) => owed < mostOwed);
      if (candidates.length === 0)
        throw new Problem(
          'unavailable',
          'service.busy',
          'A service has more to do than it can; try again in a moment.',
          {
            retryAfter: 1,
          },
        );
      for (const [index, replica] of candidates.entries()) {
        if (signal.aborted) throw deadlineExceeded.problem();
        const isLast = index === candidates.length - 1 || replicas.length === 1;
        const patience = call.harmless && !isLast ? Math.min(within, impatientMs) : within;
        // What is known to take long (a rebuild) says nothing about the replica.
        const counted = within <= timeoutMs ? 1 : 0;
        if (replica.owed === 0) replica.heardAt = performance.now();
        replica.owed += counted;
        try {
          const response = await traced(call, replica.origin, (traceparent) =>
            agent.request({
              origin: replica.origin,
              path: call.path,
              method: call.method,
              headers: {
                ...call.headers,
                ...(traceparent !== undefined && { traceparent }),
                [serviceTokenHeader]: options.token,
              },
              body: body ?? null,
              headersTimeout: patience,
              bodyTimeout: within,
              signal,
            }),
          );
          replica.heardAt = performance.now();
          const refusal = response.headers[notHandledHeader];
          if (refusal === undefined) return response;
          await response.body.dump();
          lastError = new Error(
            refusal === 'token'
              ? 'a replica does not accept the SERVICE_TOKEN'
              : `a replica did not begin: ${String(refusal)}`,
          );
        } catch (error) {
          if (!mayAskElsewhere(error, call.harmless && !signal.aborted)) throw failure(error, signal);
          lastError = error;
        } finally {
          replica.owed -= counted;
        }
        replica.avoidUntil = performance.now() + avoidMs;
        if (body !== undefined && typeof body !== 'string') break; // a stream is sent once
      }
      throw failure(lastError, signal);
    },
    close: () => agent.close(),
  };
}
