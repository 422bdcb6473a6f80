import { pipeline } from 'node:stream/promises';
import { isProblem, Problem } from '../errors.ts';
import type { Service, ServiceStatus } from '../operation.ts';
import { type ParkedWork, remoteParkedWork } from '../parked-work.ts';
import type { RawRoute } from '../raw-route.ts';
import type { Transport } from './transport.ts';
import {
  adminPath,
  callerHeader,
  fromWire,
  rawContextHeader,
  rawPath,
  rawProblemHeader,
  type WireRawContext,
} from './wire.ts';

/** Longest rebuild that is waited for, in ms. */
const rebuildMs = 3_600_000;
/** Longer than anybody waits for the end of a release. */
const parkedMs = 20_000;
const statusMs = 10_000;
/** Longest that a file is on its way to a service, in ms: what the service gives it, and some for the answer. */
const uploadMs = 150_000;
/** What is not asked of another replica when one has perhaps begun it. */
const changing = new Set(['rebuild', 'release-key', 'discard-letter', 'forget-key', 'retry-stream']);
/** How often a service that was never ready is asked again, in ms. */
const pollMs = 500;

/** A service in another process, as its gateway administers it. */
export type RemoteService = Pick<Service, 'name' | 'notReady' | 'status' | 'rebuild'> & {
  readonly parked: ParkedWork;
  /** Begins to ask whether it is ready. */
  start(): void;
  stop(): Promise<void>;
};

/** What a replica says that does not know what it is asked for. */
const unknownPath = 'internal.path';
/** While releases run side by side: not knowing is no answer, another replica may know. */
const older = (name: string): Problem =>
  new Problem(
    'unavailable',
    'service.older',
    `A replica of an older release of ${name} cannot tell; come again when the roll-out is done.`,
    { retryAfter: 5 },
  );

/**
 * Administers a service in another process. It counts as ready from the first time that a replica of it is: a gateway that
 * has served goes on to, and says of each request whether its service is there (PITFALLS 46).
 */
export function createRemoteService(name: string, transport: Transport): RemoteService {
  const stopping = new AbortController();
  let missing: readonly string[] = ['not reached yet'];
  let asking: Promise<void> = Promise.resolve();

  const ask = async (what: string, timeoutMs: number, body?: unknown): Promise<unknown> => {
    const response = await transport.send({
      path: `${adminPath}${what}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body ?? {}),
      signal: stopping.signal,
      timeoutMs,
      harmless: !changing.has(what),
    });
    const result: { readonly answer?: unknown; readonly problem?: Parameters<typeof fromWire>[0] } = Object(
      await response.body.json(),
    );
    if (result.problem?.code === unknownPath) throw older(name);
    if (result.problem !== undefined) throw fromWire(result.problem);
    return result.answer;
  };

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done(): void {
        clearTimeout(timer);
        stopping.signal.removeEventListener('abort', done);
        resolve();
      }
      stopping.signal.addEventListener('abort', done, { once: true });
    });

  const untilReady = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        missing = Object(await ask('ready', statusMs)).missing;
        if (missing.length === 0) return;
      } catch (error) {
        missing = [isProblem(error) ? error.code : 'cannot be reached'];
      }
      await wait(pollMs);
    }
  };

  return {
    name,
    notReady: () => missing,
    // The other end is the same release: what it answers has this shape.
    status: async () => (await ask('status', statusMs)) as ServiceStatus,
    rebuild: async (projections) =>
      (await ask('rebuild', rebuildMs, { projections })) as Awaited<ReturnType<Service['rebuild']>>,
    parked: remoteParkedWork((name, query) => ask(name, parkedMs, query)),
    start() {
      asking = untilReady();
    },
    async stop() {
      stopping.abort();
      await asking;
    },
  };
}

/** Headers that belong to one connection (RFC 9110, 7.6.1), and the address that the request was sent to. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'host',
  'expect',
]);

/**
 * What an outsider may say but nobody within believes: internal headers, baggage of traces, and what proxies say of the way here.
 * The address of the caller and of the instance travel in the context that the gateway makes.
 */
const ofOutsiders = /^(?:x-bindery-|x-forwarded-|x-real-ip$|forwarded$|baggage$|tracestate$)/;

const passedOn = (headers: NodeJS.Dict<string | string[]>): Record<string, string | string[]> => {
  const passed: Record<string, string | string[]> = {};
  const named = new Set(
    String(headers.connection ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
  // How long the body is says the protocol, whatever `Connection` names.
  named.delete('content-length');
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !ofConnection.has(name) && !named.has(name) && !ofOutsiders.test(name))
      passed[name] = value;
  return passed;
};

/**
 * Passes a raw route on to the service that owns it; bytes flow through in both directions.
 * @param route `once`: a GET that another replica is not asked for as well, because the first one may have begun it
 */
export const createRemoteRawRoute = (
  route: Pick<RawRoute, 'method' | 'path'> & { readonly once?: true },
  transport: Transport,
): RawRoute => ({
  method: route.method,
  path: route.path,
  async handle(request, response, { signal, now, caller, ...known }) {
    const context: WireRawContext = { ...known, route: route.path, now: now.toISOString() };
    const target = request.url ?? '/';
    const answer = await transport.send({
      template: `${rawPath}${route.path}`,
      path: `${rawPath}${target.startsWith('/') ? target : new URL(target).pathname + new URL(target).search}`,
      method: request.method === 'HEAD' ? 'HEAD' : route.method,
      headers: {
        ...passedOn(request.headers),
        'x-request-id': known.requestId,
        ...(caller !== undefined && { [callerHeader]: encodeURIComponent(caller) }),
        [rawContextHeader]: Buffer.from(JSON.stringify(context)).toString('base64url'),
      },
      ...(route.method === 'GET' ? {} : { body: request, timeoutMs: uploadMs }),
      signal,
      transfer: true,
      harmless: route.method === 'GET' && route.once !== true,
    });
    const problem = answer.headers[rawProblemHeader];
    if (typeof problem === 'string') {
      await answer.body.dump();
      throw fromWire(JSON.parse(Buffer.from(problem, 'base64url').toString()));
    }
    try {
      response.writeHead(answer.statusCode, passedOn(answer.headers));
      await pipeline(answer.body, response);
    } catch (error) {
      // What is not read holds its connection.
      answer.body.destroy();
      // The head is out: the caller sees that the answer was cut off.
      response.destroy();
      if (!signal.aborted)
        throw new Problem('unavailable', 'service.unavailable', 'A service went away within its answer.', {
          cause: error,
        });
    }
  },
});
