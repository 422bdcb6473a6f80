import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cache } from '@bindery/cache';
import { createMemoryCache } from '@bindery/cache/memory';
import {
  apiOperations,
  type Contract,
  createContract,
  identityInternalOperations,
  operations,
} from '@bindery/contracts';
import type { ReadStore } from '@bindery/read-store';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import {
  conflict,
  createInProcessClient,
  eraseHandlers,
  etagOf,
  type HandlersFor,
  invalid,
  notFound,
  type Principal,
  requireIfMatch,
} from '@bindery/service-kit';
import { noopTelemetry, type Telemetry } from '@bindery/telemetry';
import type { GatewayConfig } from './config.ts';
import { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
import { thingOperations } from './things/testing.ts';

export { thingOperations } from './things/testing.ts';

interface StoredThing {
  readonly title: string;
  readonly owner: string | null;
  readonly revision: number;
}

/** The service behind the things, in memory, with a window for the tests. */
export class FakeService {
  readonly things = new Map<string, StoredThing>();
  readonly tokens = new Map<string, Principal>();
  /** By the hash of the secret in the cookie. */
  readonly sessions = new Map<string, Principal>();
  readonly users = new Map<string, string>();
  /** How often each operation was called. */
  readonly calls = new Map<string, number>();
  /** Resolved by the test to let `slow` go on. */
  release: () => void = () => undefined;
  slow: Promise<void> = Promise.resolve();
  notReady: readonly string[] = [];
  /** The ids that `slow` made, call by call. */
  readonly made: string[][] = [];
  /** Ids of spaces that nobody may see any more. */
  readonly closed = new Set<string>();

  token(text: string, principal: Partial<Principal> = {}): void {
    const defaults: Principal = {
      kind: 'user',
      id: `user-${text}`,
      tokenId: `token-${text}`,
      instanceAdmin: false,
      organizations: {},
    };
    this.tokens.set(createHash('sha256').update(text).digest('hex'), { ...defaults, ...principal });
  }

  /** Somebody who is signed in; the secret is what the cookie holds. */
  signedIn(secret: string): void {
    const principal: Principal = {
      kind: 'user',
      id: 'reader',
      tokenId: 'session-1',
      instanceAdmin: false,
      organizations: {},
    };
    this.sessions.set(createHash('sha256').update(secret).digest('hex'), principal);
  }

  hold(): void {
    this.slow = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  #count(id: string): void {
    this.calls.set(id, (this.calls.get(id) ?? 0) + 1);
  }

  #get(id: string): StoredThing {
    const thing = this.things.get(id);
    if (!thing) throw notFound('thing');
    return thing;
  }

  readonly handlers: HandlersFor<typeof thingOperations & typeof identityInternalOperations> = {
    listThings: async (_context, { query }) => {
      const all = [...this.things].slice(0, query.limit);
      const items = all.map(([id, { title, owner }]) => ({ object: 'thing' as const, id, title, owner }));
      return { status: 200, body: { items, count: this.things.size } };
    },
    createThing: async ({ ids, baseUrl }, { body }) => {
      this.#count('createThing');
      const id = ids.id();
      const thing = { title: body.title, owner: body.owner ?? null, revision: 0 };
      this.things.set(id, thing);
      const { title, owner } = thing;
      return {
        status: 201,
        body: { object: 'thing', id, title, owner },
        etag: etagOf(0),
        location: `${baseUrl}/v1/things/${id}`,
      };
    },
    getThing: async (_context, { params: { thingId } }) => {
      const { title, owner, revision } = this.#get(thingId);
      return { status: 200, body: { object: 'thing', id: thingId, title, owner }, etag: etagOf(revision) };
    },
    updateThing: async (_context, request) => {
      const { thingId } = request.params;
      const known = this.#get(thingId);
      requireIfMatch(request, etagOf(known.revision));
      const thing = { ...known, title: request.body.title ?? known.title, revision: known.revision + 1 };
      this.things.set(thingId, thing);
      const body = { object: 'thing' as const, id: thingId, title: thing.title, owner: thing.owner };
      return { status: 200, body, etag: etagOf(thing.revision) };
    },
    deleteThing: async (_context, { params: { thingId } }) => ({ status: this.things.delete(thingId) ? 205 : 204 }),
    pokeThing: async (_context, { body }) => ({ status: 200, body: { hard: body?.hard ?? false } }),
    getThingPage: async (_context, { params: { pagePath } }) => ({ status: 200, body: { path: pagePath } }),
    uploadThings: async (_context, { body }) => ({ status: 200, body: { size: body.text.length } }),
    misbehave: async ({ ids }, { body: { how } }) => {
      this.#count('misbehave');
      if (how === 'hang') return new Promise(() => undefined);
      if (how === 'outage') throw Object.assign(new Error('store away'), { code: 'event_store.unavailable' });
      if (how === 'conflict') throw conflict('thing.conflict', 'The thing is in use.');
      if (how === 'invalid') throw invalid('thing.invalid', 'The thing makes no sense.');
      if (how === 'throw') throw new Error('secret-marker');
      const made = [ids.id(), ids.eventId()];
      this.made.push(made);
      await this.slow;
      return { status: 200, body: { ids: made } };
    },
    postInSpace: async ({ ids }) => {
      this.#count('postInSpace');
      return { status: 201, body: { id: ids.id() } };
    },
    getThingsForAdministrators: async () => ({ status: 200, body: { count: this.things.size } }),
    resolveToken: async (_context, { body: { tokenHash } }) => {
      this.#count('resolveToken');
      const principal = this.tokens.get(tokenHash);
      return { status: 200, body: { principal: principal ? { ...principal, kind: 'user' } : null } };
    },
    loadUsers: async ({ baseUrl }, { body: { ids } }) => {
      this.#count('loadUsers');
      const known = ids.filter((id) => this.users.has(id));
      return {
        status: 200,
        body: {
          users: known.map((id) => ({
            object: 'user' as const,
            id,
            displayName: this.users.get(id) ?? '',
            urls: { location: `${baseUrl}/v1/users/${id}` },
          })),
        },
      };
    },
  };
}

/** A reactor of the service behind the gateway, as it tells of it. */
const finisher = {
  ...{ name: 'finisher', position: 5, head: 7, lag: 2, oldestMs: 40, state: 'catching-up' as const },
  parked: [{ stream: 'content.thing-t1', reason: 'no', since: '2026-03-01T12:00:00.000Z' }],
};

export const testConfig: GatewayConfig = {
  host: '127.0.0.1',
  port: 0,
  version: '0.1.0',
  build: '2026-01-01',
  profile: 'embedded',
  rateLimit: { perMinute: 0, burst: 1000 },
  failedAuthenticationPerMinute: 0,
  trustedProxyHops: 0,
  requestDeadlineMs: 5000,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 5000,
  duplicateWaitMs: 2000,
  denialReportMs: 60_000,
  shutdownTimeoutMs: 2000,
};

export interface FakeInstance {
  readonly service: FakeService;
  readonly gateway: Gateway;
  readonly contract: Contract;
  readonly cache: Cache;
  readonly store: ReadStore;
  readonly url: string;
  readonly port: number;
  /** Stops the gateway and starts another one on the same stores. */
  restart(): Promise<FakeInstance>;
  stop(): Promise<void>;
}

/** A running gateway in front of a fake service. `secret` is the token of a user, `root` that of an administrator. */
export async function startFakeInstance(
  config: Partial<GatewayConfig> = {},
  extra: Partial<GatewayOptions> & { readonly telemetry?: Telemetry } = {},
  kept?: { readonly service: FakeService; readonly folder: string },
): Promise<FakeInstance> {
  const service = kept?.service ?? new FakeService();
  const folder = kept?.folder ?? mkdtempSync(join(tmpdir(), 'gateway-'));
  service.token('secret');
  service.token('root', { instanceAdmin: true });
  const contract = createContract({
    ...apiOperations,
    ...thingOperations,
    ...identityInternalOperations,
    getSpaceById: operations.getSpaceById,
    resolveSession: operations.resolveSession,
  });
  const cache = extra.cache ?? createMemoryCache();
  const store = extra.stateStore ?? (await openSqliteReadStore({ path: join(folder, 'gateway.db') }));
  const gateway = createGateway({
    contract,
    services: createInProcessClient(
      eraseHandlers(service.handlers),
      eraseHandlers({
        resolveSession: async (_context: unknown, { body }: { body: { sessionHash: string } }) => ({
          status: 200,
          body: { principal: service.sessions.get(body.sessionHash) ?? null },
        }),
        getSpaceById: async (_context: unknown, { params }: { params: { spaceId: string } }) => {
          if (service.closed.has(params.spaceId)) throw notFound('space');
          return { status: 200, body: {} };
        },
      }),
    ),
    instance: [
      {
        name: 'content',
        notReady: () => service.notReady,
        status: async () => ({ service: 'content', events: 7, projections: [], reactors: [finisher] }),
        rebuild: async () => ({ events: 7, durationMs: 1 }),
      },
    ],
    cache,
    stateStore: store,
    telemetry: noopTelemetry(),
    clock: { now: () => new Date() },
    config: { ...testConfig, ...config },
    ...extra,
  });
  const { port, url } = await gateway.start();
  const halt = async (): Promise<void> => {
    await gateway.stop();
    await store.close();
    await cache.close();
  };
  return {
    service,
    gateway,
    contract,
    cache,
    store,
    url,
    port,
    async restart() {
      await halt();
      return startFakeInstance(config, {}, { service, folder });
    },
    async stop() {
      await halt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
