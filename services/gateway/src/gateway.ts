import type { RequestListener } from 'node:http';
import type { Cache } from '@bindery/cache';
import {
  buildAsyncApi,
  buildOpenApi,
  type Contract,
  createContract,
  operations,
  recordRecovery,
  type ServiceName,
} from '@bindery/contracts';
import type { ReadStore } from '@bindery/read-store';
import type { RawRoute } from '@bindery/service-kit';
import { type Clock, createInProcessClient, eraseHandlers, type ServiceClient } from '@bindery/service-kit';
import { createRepeatedWarnings, type Telemetry } from '@bindery/telemetry';
import type { Express } from 'express';
import { createApp } from './app.ts';
import type { GatewayConfig } from './config.ts';
import { createOwnHandlers, type ServiceAdmin } from './features/own-handlers.ts';
import { createParkedHandlers } from './features/parked-handlers.ts';
import { createGatewayServer } from './http/server.ts';
import { createListener } from './listener.ts';
import type { ResolveToken } from './pipeline/authenticate.ts';
import { createCallers } from './pipeline/callers.ts';
import { createDenialReporter } from './pipeline/denials.ts';
import { type CallOperation, createHydrate } from './pipeline/embeds.ts';
import { createIdempotency } from './pipeline/idempotency.ts';
import { createRateLimiter } from './pipeline/rate-limit.ts';
import { createRememberedTokens, type TokenAnswer } from './pipeline/remembered-tokens.ts';
import { type Documents, referenceDocument } from './site/reference.ts';
import { signInRoutes } from './site/sign-in/index.ts';

export interface GatewayOptions {
  /** Default: everything that is declared. */
  readonly contract?: Contract;
  /** One client for all operations, or one per owner. */
  readonly services: ServiceClient | Readonly<Partial<Record<ServiceName, ServiceClient>>>;
  /** The services as their operators see them: readiness, status, rebuild. */
  readonly instance: readonly ServiceAdmin[];
  readonly cache: Cache;
  /** Where idempotency keys are kept. */
  readonly stateStore: ReadStore;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly config: GatewayConfig;
  /** Default: the internal operation `resolveToken`. */
  readonly resolveToken?: ResolveToken;
  /** Routes that are no operations. */
  readonly rawRoutes?: readonly RawRoute[];
}

export interface Gateway {
  /** The whole gateway as an Express application, for mounting. */
  readonly app: Express;
  /** The same as a listener, without Express in the way of operations. */
  readonly handler: RequestListener;
  /** Listens. @returns where */
  start(): Promise<{ readonly port: number; readonly url: string }>;
  /** Says that it is not ready and keeps no connections, and goes on: whoever sends requests here has time to learn of it. */
  drain(): void;
  /** Not ready, stops to accept, finishes what is in flight, closes. Idempotent. */
  stop(): Promise<void>;
}

/** Builds the gateway (DESIGN section 3). Nothing happens before `start`. */
export function createGateway(options: GatewayOptions): Gateway {
  const { services, instance, cache, telemetry, clock, config } = options;
  const { logger } = telemetry;
  const repeats = createRepeatedWarnings(logger, config.repeatedWarningsMs);
  const contract = options.contract ?? createContract(operations);
  const own = createInProcessClient(
    eraseHandlers(createOwnHandlers(instance, config, clock)),
    eraseHandlers(
      createParkedHandlers(instance, (context, body) => call(recordRecovery, context, { params: {}, query: {}, body })),
    ),
  );
  const clientOf = (owner: ServiceName): ServiceClient => {
    if (owner === 'gateway') return own;
    const client = isClient(services) ? services : services[owner];
    if (!client) throw new Error(`gateway: no client for the operations of ${owner}`);
    return client;
  };
  const call: CallOperation = (operation, context, request) => {
    // The gateway routes operations it knows by their definitions alone; requests were checked against them.
    const client = clientOf(operation.owner) as { call: CallOperation };
    return client.call(operation, context, request);
  };
  const resolveToken: ResolveToken =
    options.resolveToken ??
    createRememberedTokens({
      cache,
      ask: async (tokenHash, context, address) => {
        const request = { params: {}, query: {}, body: { tokenHash, address } };
        const { body } = await call(contract.operation('resolveToken'), context, request);
        const { principal = null, holds }: Partial<TokenAnswer> = Object(body);
        return { principal, ...(holds === undefined ? {} : { holds }) };
      },
    });
  const resolveSession: ResolveToken = async (sessionHash, context, address) => {
    const operation = contract.operations.get('resolveSession');
    if (operation === undefined) return null;
    const { body } = await call(operation, context, { params: {}, query: {}, body: { sessionHash, address } });
    return Object(body).principal ?? null;
  };
  const idempotency = createIdempotency({
    store: options.stateStore,
    cache: options.cache,
    clock,
    logger,
    waitMs: config.duplicateWaitMs,
    sole: config.profile === 'embedded',
  });

  const denials = createDenialReporter({
    call,
    logger,
    everyMs: config.denialReportMs,
    now: () => clock.now(),
    baseUrl: () => url,
  });

  let url = config.publicUrl ?? `http://localhost:${config.port}`;
  let accepting = false;
  let stopping: Promise<void> | undefined;
  let documents: Documents | undefined;
  const makeDocuments = (): Documents => {
    const { version } = config;
    return {
      openapi: referenceDocument(
        buildOpenApi({ baseUrl: url, version, operations: Object.fromEntries(contract.operations) }),
      ),
      asyncapi: referenceDocument(buildAsyncApi({ version })),
    };
  };

  const app = createApp({
    telemetry,
    repeats,
    readiness: { services: instance, accepting: () => accepting },
    documents: () => {
      documents ??= makeDocuments();
      return documents;
    },
    // The listener is made below and needs the application for everything that is no operation.
    operations: (request, response) => listener.operations(request, response),
  });
  const limiter = createRateLimiter(cache, config, repeats);
  const callers = createCallers(() => url);
  const pages = { contract, call, resolveSession, limiter, config };
  const listener = createListener({
    contract,
    config,
    clock,
    telemetry,
    rawRoutes: [
      ...(contract.operations.has('signInWithPassword') ? signInRoutes(pages) : []),
      ...(options.rawRoutes ?? []),
    ],
    baseUrl: () => url,
    rest: app,
    callers,
    repeats,
    parts: {
      contract,
      config,
      callers,
      resolveToken,
      resolveSession,
      limiter,
      idempotency,
      hydrate: createHydrate(contract, call, cache, logger),
      denials,
      call,
    },
  });
  const server = createGatewayServer(listener.all, config, telemetry.metrics);

  return {
    app,
    handler: listener.all,
    async start() {
      await idempotency.start();
      denials.start();
      const port = await server.listen();
      url = config.publicUrl ?? `http://localhost:${port}`;
      accepting = true;
      warmUp(contract, () => accepting);
      logger.info('gateway listens', { host: config.host, port, url });
      return { port, url };
    },
    drain() {
      accepting = false;
      server.drain();
    },
    stop() {
      accepting = false;
      stopping ??= server.close(config.shutdownTimeoutMs).then(async () => {
        await denials.stop();
        await idempotency.stop();
        repeats.stop();
      });
      return stopping;
    },
  };
}

const isClient = (services: GatewayOptions['services']): services is ServiceClient =>
  'call' in services && typeof services.call === 'function';

/** Compiles the checks in the gaps between requests, so that the first request of an operation need not wait for it. */
function warmUp(contract: Contract, goOn: () => boolean): void {
  const steps = contract.warmUp()[Symbol.iterator]();
  const step = (): void => {
    if (goOn() && !steps.next().done) setTimeout(step, 1).unref();
  };
  setTimeout(step, 1).unref();
}
