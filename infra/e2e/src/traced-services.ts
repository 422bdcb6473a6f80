import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFilesystemBlobStore } from '@bindery/blob-store/filesystem';
import { createMemoryCache } from '@bindery/cache/memory';
import { createContentService } from '@bindery/content';
import { openSqliteEventStore } from '@bindery/event-store/sqlite';
import { createGateway, gatewayConfig } from '@bindery/gateway';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import { createIdentityService, createKeyStore, createVault, signInConfig } from '@bindery/identity';
import { openEmbeddedMessageBus } from '@bindery/message-bus/embedded';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { openSqliteSearchIndex } from '@bindery/search/sqlite';
import { type Service, systemClock } from '@bindery/service-kit';
import { createHttpClient } from '@bindery/service-kit/http-client';
import { createServiceListener } from '@bindery/service-kit/service-listener';
import { createTransport } from '@bindery/service-kit/transport';
import { readSettings } from '@bindery/standalone';
import { createTelemetry, type Telemetry } from '@bindery/telemetry';
import { observedEventStore, observedMessageBus, observedReadStore } from '@bindery/telemetry/ports';
import type { Target } from './support.ts';

/** Gateway, identity and content as they are in processes of their own: they meet over HTTP and the bus only. */
export interface TracedServices extends Target {
  readonly organizationId: string;
  /** Log lines of all of them. */
  readonly logs: readonly string[];
  /** Has everything that was traced sent, then stops all. */
  stop(): Promise<void>;
}

const token = 'bnd_pat_0123456789012345678901234567890123456789';
const internal = 'internal-token';

/** Starts them in this process, each with telemetry of its own that goes to the collector. */
export const startTracedServices = async (otlpEndpoint: string, sampleRatio = 1): Promise<TracedServices> => {
  const folder = mkdtempSync(join(tmpdir(), 'bindery-traces-'));
  const closers: (() => Promise<unknown> | unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const keep = <T extends { close(): Promise<void> }>(part: T): T => {
    closers.push(() => part.close());
    return part;
  };
  const logs: string[] = [];
  const telemetryOf = async (service: string): Promise<Telemetry> => {
    const telemetry = await createTelemetry({
      ...{ service, version: '1', logLevel: 'info' as const, otlpEndpoint, sampleRatio },
      stdout: { write: (line) => logs.push(line) },
    });
    closers.push(() => telemetry.shutdown());
    return telemetry;
  };
  const telemetry = {
    gateway: await telemetryOf('gateway'),
    identity: await telemetryOf('identity'),
    content: await telemetryOf('content'),
  };
  const bus = keep(openEmbeddedMessageBus({ path: join(folder, 'bus.db') }));
  const cache = keep(createMemoryCache());
  const portsOf = async (service: 'identity' | 'content') => ({
    eventStore: observedEventStore(
      keep(openSqliteEventStore({ path: join(folder, `${service}.db`) })),
      telemetry[service],
      'sqlite',
    ),
    readStore: observedReadStore(
      keep(await openSqliteReadStore({ path: join(folder, `${service}-read.db`) })),
      telemetry[service],
      'sqlite',
    ),
    bus: observedMessageBus(bus, telemetry[service], 'embedded'),
    cache,
    telemetry: telemetry[service],
    clock: systemClock,
  });
  const listen = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  };
  const serve = (service: Service, own: Telemetry): Promise<string> =>
    listen(createServiceListener({ service, rawRoutes: [], tokens: [internal], telemetry: own, ending: () => false }));
  const clientOf = (url: string, own: Telemetry) =>
    createHttpClient(keep(createTransport({ urls: [url], token: internal, tracer: own.tracer })));

  const settings = readSettings({
    ...{ PORT: '0', RATE_LIMIT_PER_MINUTE: '0', BINDERY_BOOTSTRAP_TOKEN: token },
  });
  const vault = createVault(new Uint8Array(32).fill(7));
  const keys = await createKeyStore(keep(await openSqliteReadStore({ path: join(folder, 'keys.db') })), vault);
  const nobody = { call: () => Promise.reject(new Error('identity asks nobody here')) };
  const identity = await createIdentityService({
    ...{ ports: await portsOf('identity'), keys, vault, services: nobody, signIn: signInConfig(settings) },
  });
  const identityUrl = await serve(identity, telemetry.identity);
  const content = createContentService({
    ports: await portsOf('content'),
    services: clientOf(identityUrl, telemetry.content),
    blobStore: keep(await openFilesystemBlobStore({ folder: join(folder, 'blobs') })),
    searchIndex: keep(await openSqliteSearchIndex({ path: join(folder, 'search.db') })),
    fetchGuard: createGuardedFetch(),
    cursorSecret: vault.secret('content'),
  });
  const contentUrl = await serve(content, telemetry.content);
  const gateway = createGateway({
    services: {
      identity: clientOf(identityUrl, telemetry.gateway),
      content: clientOf(contentUrl, telemetry.gateway),
    },
    instance: [identity, content],
    cache,
    stateStore: keep(await openSqliteReadStore({ path: join(folder, 'gateway.db') })),
    telemetry: telemetry.gateway,
    clock: systemClock,
    config: gatewayConfig(settings, { version: '1', build: 'x', profile: 'embedded', publicUrl: undefined }),
  });
  for (const service of [identity, content]) {
    await service.start();
    closers.push(() => service.stop());
  }
  const { organizationId } = await identity.bootstrap({
    ...{ email: 'admin@example.com', displayName: 'Admin', organizationTitle: 'Acme', token },
    onFirstStart: () => token,
  });
  const { url } = await gateway.start();
  closers.push(() => gateway.stop());
  return {
    url: url.replace('localhost', '127.0.0.1'),
    token,
    organizationId,
    logs,
    async stop() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
};
