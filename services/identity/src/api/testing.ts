import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMemoryCache } from '@bindery/cache/memory';
import { createContract, type OperationDefinition, operations, replaceEmbeds } from '@bindery/contracts';
import type { EventStore } from '@bindery/event-store';
import { openSqliteEventStore } from '@bindery/event-store/sqlite';
import { openEmbeddedMessageBus } from '@bindery/message-bus/embedded';
import type { ReadStore } from '@bindery/read-store';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import {
  createIdSource,
  createInProcessClient,
  type IdSource,
  isProblem,
  type OperationAnswer,
  type OperationRequest,
  type Principal,
  type ProblemKind,
  type ServiceClient,
  servicePrincipal,
} from '@bindery/service-kit';
import { noopTelemetry } from '@bindery/telemetry';
import { expect } from '@jest/globals';
import { tokenHashOf } from '../features/tokens/index.ts';
import type { IdentityOptions } from '../identity-options.ts';
import { createIdentityService } from '../service.ts';
import { createKeyStore } from '../shared/key-store.ts';
import { searchable } from '../shared/text.ts';
import { createVault, type Vault } from '../shared/vault.ts';

export const bootstrapToken = 'bnd_pat_0123456789012345678901234567890123456789';
const contract = createContract(operations);

/** A clock that stands until it is moved. */
export const manualClock = (start: string) => {
  let time = Date.parse(start);
  return {
    now: () => new Date(time),
    forward: (ms: number) => {
      time += ms;
    },
  };
};

type Clock = ReturnType<typeof manualClock>;
type Parts<D extends OperationDefinition> = Partial<OperationRequest<D>> & { readonly ids?: IdSource };

/** The content service as far as identity asks it: it counts no grants, and fails at everything else. */
const otherServices = (): ServiceClient => {
  const zeros = (list: unknown): number[] => (Array.isArray(list) ? list.map(() => 0) : []);
  return createInProcessClient({
    countSpacesOfMembers: async (_context, { body }) => ({
      status: 200,
      body: { counts: zeros(Object(body).members) },
    }),
    countSpacesOfTeams: async (_context, { body }) => ({ status: 200, body: { counts: zeros(Object(body).teams) } }),
  });
};

const vaultFrom = async (
  keyStore: ReadStore,
  vaultOf = async (_keys: ReadStore) => createVault(new Uint8Array(32).fill(7)),
): Promise<Vault> => {
  try {
    return await vaultOf(keyStore);
  } catch (error) {
    await keyStore.close();
    throw error;
  }
};

/** The identity service on real stores in a folder of its own, as the composition root would start it. */
export const startIdentity = async (
  given: {
    readonly folder?: string;
    readonly clock?: Clock;
    /** Puts something between the service and its event store. */
    readonly between?: (store: EventStore) => EventStore;
    /** Stands for the other services; without it, they know nothing of anybody. */
    readonly services?: ServiceClient;
    /** What keys are derived from; the same key every time without it. @param keys the database of keys */
    readonly vaultOf?: (keys: ReadStore) => Promise<Vault>;
    /** Other options of the service. */
    readonly options?: Pick<IdentityOptions, 'mailer' | 'publicUrl' | 'signIn' | 'saml'>;
  } = {},
) => {
  const folder = given.folder ?? (await mkdtemp(join(tmpdir(), 'bindery-identity-')));
  const clock = given.clock ?? manualClock('2026-01-31T09:30:00.000Z');
  const keyStore = await openSqliteReadStore({ path: join(folder, 'keys.db'), durable: true });
  const vault = await vaultFrom(keyStore, given.vaultOf);
  const ownStore = openSqliteEventStore({ path: join(folder, 'events.db') });
  const eventStore = given.between?.(ownStore) ?? ownStore;
  const readStore = await openSqliteReadStore({ path: join(folder, 'read.db') });
  const bus = openEmbeddedMessageBus({ path: join(folder, 'bus.db') });
  const cache = createMemoryCache();
  const telemetry = noopTelemetry();
  const keys = await createKeyStore(keyStore, vault);
  const ports = { eventStore, readStore, bus, cache, telemetry, clock };
  const service = await createIdentityService({
    ports,
    keys,
    vault,
    services: given.services ?? otherServices(),
    ...given.options,
  });
  await service.start();
  const client = createInProcessClient(service.handlers);
  const stop = async (): Promise<void> => {
    await service.stop();
    await Promise.all([ownStore.close(), readStore.close(), keyStore.close(), bus.close(), cache.close()]);
  };
  const first = { email: 'admin@localhost', displayName: 'Administrator', organizationTitle: 'My organization' };
  const { administratorId, organizationId } = await service
    .bootstrap({ ...first, onFirstStart: () => bootstrapToken })
    .catch(async (error: unknown) => {
      await stop();
      throw error;
    });

  /** Calls an operation as the gateway would, and checks request and answer against the contract. */
  const call = async <D extends OperationDefinition>(
    operation: D,
    principal: Principal,
    { ids = createIdSource(), ...request }: Parts<D> = {},
  ): Promise<OperationAnswer<D>> => {
    const { params = {}, query = {}, body, ifMatch } = request as Parts<OperationDefinition>;
    const checks = contract.checks(operation);
    expect([checks.params(params), checks.query(query), operation.body ? checks.body(body ?? {}) : undefined]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const context = {
      principal,
      requestId: 'request',
      now: clock.now(),
      ids,
      signal: new AbortController().signal,
      baseUrl: 'https://docs.example.org',
    };
    const whole = { params, query, body, ...(ifMatch === undefined ? {} : { ifMatch }) };
    const answer = await client.call(operation, context, whole as unknown as OperationRequest<D>);
    const plan = contract.embedPlan(operation, answer.status);
    const user = (id: string) => ({ object: 'user', id, displayName: 'U', urls: { location: 'https://example.org' } });
    const shown = plan ? replaceEmbeds(plan, answer.body, (_kind, id) => user(id)) : answer.body;
    expect(contract.checkResponse(operation.id, answer.status, shown)).toEqual([]);
    return answer;
  };

  const resolve = async (token: string): Promise<Principal | null> => {
    const { body } = await call(operations.resolveToken, servicePrincipal('gateway'), {
      body: { tokenHash: tokenHashOf(token) },
    });
    return body.principal;
  };
  /** Who a token stands for now. */
  const principalOf = async (token: string): Promise<Principal> => {
    const principal = await resolve(token);
    if (principal === null) throw new Error('the token stands for nobody');
    return principal;
  };
  const admin = () => principalOf(bootstrapToken);

  /** A new user with a token. */
  const newUser = async (name: string) => {
    const administrator = await admin();
    const body = { email: `${searchable(name).replaceAll(/\W/g, '.')}@example.org`, displayName: name };
    const { body: user } = await call(operations.createUser, administrator, { body });
    const created = await call(operations.createUserToken, administrator, { params: { userId: user.id }, body: {} });
    return { id: user.id, token: created.body.token, tokenId: created.body.id };
  };

  return {
    folder,
    clock,
    service,
    ports,
    keys,
    vault,
    administratorId,
    organizationId,
    call,
    resolve,
    principalOf,
    admin,
    newUser,
    /** Waits until notes of use are written. */
    settled: () => service.settled(),
    /** Stops everything; the folder stays. */
    stop,
    /** Stops everything and removes the folder. */
    async dispose() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
};

export type TestIdentity = Awaited<ReturnType<typeof startIdentity>>;

/** Expects a refusal of this kind and code. */
export const expectProblem = async (work: Promise<unknown>, kind: ProblemKind, code: string): Promise<void> => {
  const outcome = await work.then(
    () => 'done',
    (error: unknown) => (isProblem(error) ? { kind: error.kind, code: error.code } : error),
  );
  expect(outcome).toEqual({ kind, code });
};
