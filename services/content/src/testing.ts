import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '@bindery/blob-store';
import { openFilesystemBlobStore } from '@bindery/blob-store/filesystem';
import { type AnswerOf, createContract, type MergeRules, operations, replaceEmbeds } from '@bindery/contracts';
import { FetchFailed, type GuardedFetch } from '@bindery/guarded-fetch';
import type { SearchIndex } from '@bindery/search';
import { openSqliteSearchIndex } from '@bindery/search/sqlite';
import {
  createIdSource,
  createLateClient,
  isProblem,
  type MemberRole,
  type OperationContext,
  type Principal,
  type ServiceClient,
} from '@bindery/service-kit';
import { openTestPorts, quickTuning, type TestPorts, until } from '@bindery/testing/event-sourcing';
import { expect } from '@jest/globals';
import { type ContentOptions, type ContentService, createContentService } from './service.ts';

export { type Directory, identityOf, principalOf } from './features/permissions/testing.ts';

type Operations = typeof operations;
type OperationId = keyof Operations;

/** What a call answered, as the client would see it; refusals are answers too. */
export interface TestAnswer<K extends OperationId> {
  readonly status: number;
  /** Checked against the contract. Of a refusal: nothing of this, only `message`. */
  readonly body: Exclude<AnswerOf<Operations[K]>['body'], undefined>;
  readonly etag?: string;
  readonly location?: string;
  /** Code of the problem, when it was refused. */
  readonly code?: string;
}

export interface TestRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly ifMatch?: string;
  /** Makes ids that are the same every time, as with an idempotency key. */
  readonly seed?: string;
}

export interface TestContent {
  readonly service: ContentService;
  readonly ports: TestPorts;
  readonly blobs: BlobStore;
  readonly index: SearchIndex;
  /** Calls an operation; the request is checked as the gateway does, the answer against the contract. */
  call<K extends OperationId>(operationId: K, as: Principal, request?: TestRequest): Promise<TestAnswer<K>>;
  /** Waits until every projection, reactor and the publisher have handled everything. */
  settled(): Promise<void>;
  /** Stops the service and opens it again on the same data, as after a restart. */
  restarted(options?: { readonly withoutIndex?: boolean }): Promise<TestContent>;
  stop(): Promise<void>;
}

/** A member of organization `o1` (or of none: undefined). */
export const member = (role: MemberRole | null | undefined, id = `user-${role}`): Principal => ({
  kind: 'user',
  id,
  tokenId: `token-${id}`,
  instanceAdmin: false,
  organizations: role === undefined ? {} : { o1: { role, teams: [] } },
});

export const baseUrl = 'https://docs.example.org';
const contract = createContract(operations);
const user = (id: string) => ({ object: 'user', id, displayName: id, urls: { location: `${baseUrl}/v1/users/${id}` } });
const team = (id: string) => ({
  ...{ object: 'team', id, title: id, members: 1, spaces: 0, createdAt: '2026-01-01T00:00:00.000Z' },
  permissions: { admin: false, view: true },
});

const organization = (id: string) => ({
  ...{ object: 'organization', id, title: id, createdAt: '2026-01-01T00:00:00.000Z', emailDomains: [] },
  ...{ type: 'business', defaultRole: null, sso: false, ai: false, inviteLinks: false, auditLogs: true },
  ...{ plan: 'pro_2024', mergeRules: { type: 'none' }, trial: { status: 'none', count: 0 } },
  permissions: Object.fromEntries(
    [
      ...['view', 'access', 'admin', 'ownTeam', 'createContent', 'createOpenAPISpec', 'viewBilling', 'listMembers'],
      ...['listTeams', 'listIntegrations', 'listInstallations', 'installIntegration', 'ingestConversations'],
    ].map((flag) => [flag, false]),
  ),
  urls: { app: `${baseUrl}/app/orgs/${id}`, location: `${baseUrl}/v1/orgs/${id}` },
});
const embeds: Readonly<Record<string, (id: string) => object>> = { team, organization };

const asClient = (operationId: string, status: number, body: unknown): unknown => {
  const plan = contract.embedPlan(contract.operation(operationId), status);
  // JSON as it travels: nothing undefined, nothing shared.
  const copy: unknown = body === undefined ? undefined : JSON.parse(JSON.stringify(body));
  return plan === undefined ? copy : replaceEmbeds(plan, copy, (kind, id) => (embeds[kind] ?? user)(id));
};

export interface TestContentOptions {
  readonly folder?: string;
  readonly clock?: TestPorts['clock'];
  readonly fetchGuard?: GuardedFetch;
  /** Stands for the other services; without it, calls to them fail. */
  readonly services?: ServiceClient;
  /** Merge rules of the organization; none without it. */
  readonly mergeRules?: () => MergeRules;
  readonly purgeIntervalMs?: number;
  readonly git?: ContentOptions['git'];
  readonly transfers?: ContentOptions['transfers'];
  readonly openapi?: ContentOptions['openapi'];
  readonly imports?: ContentOptions['imports'];
  readonly searchWatchMs?: number;
}

const noFetch: GuardedFetch = async () => {
  throw new FetchFailed('blocked', 'The host is not public.');
};

/** Answers the merge rules of organizations, and leaves the rest to others. */
export const withMergeRules = (
  services: ServiceClient,
  mergeRules: () => MergeRules = () => ({ type: 'none' }),
): ServiceClient => {
  const call = async (operation: { readonly id: string }, ...rest: readonly unknown[]): Promise<unknown> =>
    operation.id === 'loadMergeRules'
      ? { status: 200, body: { mergeRules: mergeRules() } }
      : Reflect.apply(services.call, services, [operation, ...rest]);
  return { call } as ServiceClient;
};

/** The content service on real stores in a folder of its own. */
export const startContent = async (options: TestContentOptions = {}): Promise<TestContent> => {
  const { folder, clock, fetchGuard = noFetch, purgeIntervalMs = 20, services = createLateClient().client } = options;
  const ports = await openTestPorts({ ...(folder ? { folder } : {}), ...(clock ? { clock } : {}) });
  const blobs = await openFilesystemBlobStore({ folder: join(ports.folder, 'blobs') });
  const index = await openSqliteSearchIndex({ path: join(ports.folder, 'search.db') });
  const service = createContentService({
    ports,
    services: withMergeRules(services, options.mergeRules),
    blobStore: blobs,
    searchIndex: index,
    fetchGuard,
    cursorSecret: 'a secret for tests only',
    purgeIntervalMs,
    ...(options.git ? { git: options.git } : {}),
    ...(options.transfers ? { transfers: options.transfers } : {}),
    ...(options.imports ? { imports: options.imports } : {}),
    ...(options.openapi ? { openapi: options.openapi } : {}),
    ...(options.searchWatchMs === undefined ? {} : { searchWatchMs: options.searchWatchMs }),
    tuning: quickTuning,
  });
  await service.start();
  const close = async (): Promise<void> => {
    await service.stop();
    await index.close();
    await blobs.close();
  };

  return {
    service,
    ports,
    blobs,
    index,
    async call<K extends OperationId>(operationId: K, as: Principal, request: TestRequest = {}) {
      const answered = (answer: Omit<TestAnswer<K>, 'body'> & { readonly body?: unknown }) => answer as TestAnswer<K>;
      const operation = contract.operation(operationId);
      const checks = contract.checks(operation);
      const params: Record<string, unknown> = { ...request.params };
      const query: Record<string, unknown> = { ...request.query };
      const { body, ifMatch, seed } = request;
      const wrong = checks.params(params) ?? checks.query(query);
      const wrongBody = body === undefined ? undefined : checks.body(body);
      if (wrong ?? wrongBody) return answered({ status: 400, body: wrong ?? wrongBody, code: 'contract' });
      const context: OperationContext = {
        principal: as,
        requestId: 'request-1',
        now: ports.clock.now(),
        ids: createIdSource(seed),
        signal: AbortSignal.timeout(20_000),
        baseUrl,
      };
      const handler = service.handlers[operationId];
      if (handler === undefined) throw new Error(`${operationId} has no handler`);
      try {
        const answer = await handler(context, { params, query, body, ...(ifMatch ? { ifMatch } : {}) });
        const shown = asClient(operationId, answer.status, answer.body);
        expect(contract.checkResponse(operationId, answer.status, shown)).toEqual([]);
        return answered({ ...answer, body: shown });
      } catch (error) {
        if (!isProblem(error)) throw error;
        const statuses = { invalid: 400, forbidden: 403, 'not-found': 404, conflict: 409, precondition: 412 };
        const status = (statuses as Readonly<Record<string, number>>)[error.kind] ?? 500;
        return answered({ status, code: error.code, body: { message: error.message } });
      }
    },
    settled: () =>
      until('everything is handled', async () => {
        const { projections, reactors = [], publisher } = await service.status();
        return [...projections, ...reactors, ...(publisher ? [publisher] : [])].every(
          ({ lag, state }) => lag === 0 && state === 'live',
        );
      }),
    async restarted({ withoutIndex = false } = {}) {
      await close();
      await ports.close();
      if (withoutIndex)
        for (const suffix of ['', '-wal', '-shm']) await rm(join(ports.folder, `search.db${suffix}`), { force: true });
      return startContent({ ...options, folder: ports.folder, clock: ports.clock });
    },
    async stop() {
      await close();
      await ports.remove();
    },
  };
};

/** Makes an empty space and gives its id. */
export const openSpace = async (content: TestContent, as: Principal, body: object = {}): Promise<string> => {
  const request = { params: { organizationId: 'o1' }, body: { empty: true, ...body } };
  const created = await content.call('createSpace', as, request);
  expect(created.status).toBe(201);
  return created.body.id;
};

/** Makes changes in a new change request and gives its id. */
export const edit = async (
  content: TestContent,
  as: Principal,
  spaceId: string,
  changes: readonly object[],
): Promise<string> => {
  const opened = await content.call('createChangeRequest', as, { params: { spaceId }, body: { subject: 'Edit' } });
  const changeRequestId: string = opened.body.id;
  const params = { spaceId, changeRequestId };
  const edited = await content.call('updateChangeRequestContent', as, { params, body: { changes } });
  if (edited.status !== 200) throw new Error(`the edit was refused: ${JSON.stringify(edited)}`);
  return changeRequestId;
};

/** Makes changes in a new change request and merges it. */
export const publish = async (
  content: TestContent,
  as: Principal,
  spaceId: string,
  changes: readonly object[],
): Promise<void> => {
  const params = { spaceId, changeRequestId: await edit(content, as, spaceId, changes) };
  const merged = await content.call('mergeChangeRequest', as, { params });
  if (merged.status !== 200) throw new Error(`the merge was refused: ${JSON.stringify(merged)}`);
};
