import type { BlobStore } from '@bindery/blob-store';
import type { Cache } from '@bindery/cache';
import { createContentService } from '@bindery/content';
import type { ServicePorts } from '@bindery/event-sourcing';
import { createGateway, gatewayConfig } from '@bindery/gateway';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import {
  createIdentityService,
  type IdentityService,
  type KeyStore,
  samlSettings,
  signInConfig,
  type Vault,
} from '@bindery/identity';
import type { Mailer } from '@bindery/mail';
import type { ReadStore } from '@bindery/read-store';
import type { SearchIndex } from '@bindery/search';
import {
  build,
  type Clock,
  commaSeparated,
  createInProcessClient,
  createLateClient,
  createLifecycle,
  type Part,
  type Service,
  version,
} from '@bindery/service-kit';
import type { Logger, Telemetry } from '@bindery/telemetry';
import { observedFetch } from '@bindery/telemetry/ports';
import type { Settings } from './config.ts';
import { adminToken } from './first-start.ts';
import { type ImportDocs, importWantedDocs, wantDocs } from './import-docs.ts';
import { readPrivateFile } from './private-file.ts';

/** What tests and benchmarks put in place of the real thing. */
export interface Replacements {
  readonly clock?: Clock;
  /** Stopped by its owner; the default one belongs to the instance. */
  readonly telemetry?: Telemetry;
  /** How the documentation gets in at the first start; not at all when absent. */
  readonly importDocs?: ImportDocs;
}

/** The whole product in this process. */
export interface Embedded {
  /** Where people reach it, without a trailing slash. */
  readonly address: string;
  /** This was the first start on this data directory. */
  readonly first: boolean;
  /** A token of the administrator, when this start knows one; the first one always does. */
  readonly token: string | undefined;
  /** Of the first start: signs the administrator in with a browser, once. */
  readonly signInLink: string | undefined;
  readonly tokenFile: string;
  readonly logger: Logger;
  readonly services: readonly Service[];
  /** Settles when the documentation is in, or when there is none to import. Never rejects. */
  readonly imported: Promise<void>;
  /** Finishes what it began, then closes everything. Idempotent. @returns what did not stop in time */
  stop(): Promise<readonly string[]>;
}

/** Everything that the services run on, opened. */
export interface OpenedStores {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly cache: Cache;
  readonly vault: Vault;
  readonly keys: KeyStore;
  readonly identity: ServicePorts;
  readonly content: ServicePorts;
  readonly blobs: BlobStore;
  readonly search: SearchIndex;
  readonly mailer: Mailer;
  readonly gatewayState: ReadStore;
  readonly adminTokenFile: string;
  readonly importDocs: ImportDocs | undefined;
}

/** Time for what a service has begun, in ms. */
const serviceStopMs = 5000;

/**
 * Starts the services on open stores, then the gateway; stops in reverse: the gateway finishes requests, then runners and
 * publishers, then the stores.
 * @param opened what is open, in order; closed at the end
 */
export const startServices = async (
  settings: Settings,
  stores: OpenedStores,
  opened: readonly Part[],
): Promise<Embedded> => {
  const { clock, telemetry, cache, vault, keys } = stores;
  const { logger } = telemetry;
  // Services call one another's operations through the same port as the gateway does (DESIGN section 5).
  const others = createLateClient();
  const identity = await createIdentityService({
    ports: stores.identity,
    keys,
    vault,
    services: others.client,
    mailer: stores.mailer,
    publicUrl: () => settings.PUBLIC_URL ?? listening?.url ?? '',
    signIn: signInConfig(settings),
    saml: samlSettings(settings),
  });
  const content = createContentService({
    ports: stores.content,
    services: others.client,
    blobStore: stores.blobs,
    searchIndex: stores.search,
    fetchGuard: observedFetch(createGuardedFetch({ allow: commaSeparated(settings.BINDERY_FETCH_ALLOW) }), telemetry),
    cursorSecret: vault.secret('content'),
  });
  const services: readonly Service[] = [identity, content];
  const client = createInProcessClient(...services.map(({ handlers }) => handlers));
  others.bind(client);
  const config = gatewayConfig(settings, { version, build, profile: 'embedded', publicUrl: settings.PUBLIC_URL });
  const gateway = createGateway({
    services: client,
    instance: services,
    cache,
    stateStore: stores.gatewayState,
    telemetry,
    clock,
    config,
    rawRoutes: [...identity.rawRoutes, ...content.rawRoutes],
  });

  let start: Awaited<ReturnType<typeof bootstrap>> | undefined;
  let listening: { readonly port: number; readonly url: string } | undefined;
  const lifecycle = createLifecycle(
    [
      ...opened,
      ...services.map((service) => ({
        name: service.name,
        start: () => service.start(),
        stop: () => service.stop(),
        stopWithinMs: serviceStopMs,
      })),
      {
        name: 'first start',
        start: async () => {
          start = await bootstrap(settings, stores, identity);
        },
      },
      {
        name: 'gateway',
        start: async () => {
          listening = await gateway.start();
        },
        stop: () => gateway.stop(),
        // The gateway has its own limit for requests in flight; this one is the net below it.
        stopWithinMs: config.shutdownTimeoutMs + 1000,
      },
    ],
    (part, error) => logger.error('did not stop', { part, error }),
  );
  await lifecycle.start();
  if (start === undefined || listening === undefined) throw new Error('started without an address');

  const { url: baseUrl } = listening;
  const signInLink = start.first
    ? await identity.signInLinks.issue(
        start.administratorId,
        { purpose: 'first-start', mail: false },
        { requestId: 'first-start', now: clock.now(), baseUrl },
      )
    : undefined;

  const importing = new AbortController();
  const imported = importDocs(settings, stores, { port: listening.port, token: start.token, signal: importing.signal });
  return {
    address: listening.url,
    first: start.first,
    token: start.token,
    signInLink: signInLink?.url,
    tokenFile: stores.adminTokenFile,
    logger,
    services,
    imported,
    async stop() {
      importing.abort();
      await imported;
      return lifecycle.stop();
    },
  };
};

const bootstrap = async (settings: Settings, stores: OpenedStores, identity: IdentityService) => {
  const configured = settings.BINDERY_BOOTSTRAP_TOKEN;
  let token = configured;
  const { first, administratorId } = await identity.bootstrap({
    email: settings.BINDERY_BOOTSTRAP_EMAIL,
    displayName: settings.BINDERY_BOOTSTRAP_NAME,
    organizationTitle: settings.BINDERY_BOOTSTRAP_ORGANIZATION,
    onFirstStart: () => {
      if (settings.IMPORT_DOCS) wantDocs(settings.DATA_DIR);
      token = adminToken(stores.adminTokenFile, configured);
      return token;
    },
    ...(configured === undefined ? {} : { token: configured }),
  });
  return { first, administratorId, token };
};

/** In the background: the instance serves while its documentation comes in. Never rejects. */
const importDocs = async (
  settings: Settings,
  stores: OpenedStores,
  at: { readonly port: number; readonly token: string | undefined; readonly signal: AbortSignal },
): Promise<void> => {
  if (stores.importDocs === undefined) return;
  const { port, signal } = at;
  const host = settings.HOST === '0.0.0.0' || settings.HOST === '::' ? '127.0.0.1' : settings.HOST;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const token = at.token ?? readPrivateFile(stores.adminTokenFile);
  if (token === undefined) return;
  await importWantedDocs(
    stores.importDocs,
    { dataDir: settings.DATA_DIR, url, token, signal },
    stores.telemetry.logger,
  );
};
