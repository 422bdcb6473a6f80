import type { Cache } from '@bindery/cache';
import {
  type Contract,
  type EmbedKind,
  type EmbedPlan,
  type OperationDefinition,
  replaceEmbeds,
} from '@bindery/contracts';
import { type OperationContext, Problem } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';

/** How one kind of embedded resource is loaded: an internal operation that takes `{ids}` and answers `{[list]: [...]}`. */
interface Loader {
  readonly operationId: string;
  readonly list: string;
  /** The same for every caller, so it may be kept for all of them. */
  readonly shared: boolean;
  /** Stands in for what does not exist any more. */
  readonly tombstone?: (id: string, baseUrl: string) => unknown;
}

/** By kind. */
export const loaders: Readonly<Record<EmbedKind, Loader>> = {
  user: {
    operationId: 'loadUsers',
    list: 'users',
    shared: true,
    tombstone: (id, baseUrl) => ({
      object: 'user',
      id,
      displayName: 'Deleted user',
      urls: { location: `${baseUrl}/v1/users/${id}` },
    }),
  },
  team: {
    operationId: 'loadTeams',
    list: 'teams',
    shared: false,
    tombstone: (id) => ({
      object: 'team',
      id,
      title: 'Deleted team',
      members: 0,
      spaces: 0,
      createdAt: new Date(0).toISOString(),
      permissions: { admin: false, view: false },
    }),
  },
  organization: { operationId: 'loadOrganizations', list: 'organizations', shared: false },
  space: { operationId: 'loadSpaces', list: 'spaces', shared: false },
  collection: { operationId: 'loadCollections', list: 'collections', shared: false },
};

/** What an operation answered. */
interface Answered {
  readonly status: number;
  readonly body?: unknown;
  /** The body as JSON, where it came as such and nobody has looked into it. */
  readonly bodyText?: string;
  readonly etag?: string;
  readonly location?: string;
}

/** Calls an operation with its types erased; the gateway routes, it does not know the types. */
export type CallOperation = (
  operation: OperationDefinition,
  context: OperationContext,
  request: { readonly params: unknown; readonly query: unknown; readonly body: unknown; readonly ifMatch?: string },
) => Promise<Answered>;

/** Replaces ids by the resources they name, in one batch per kind. */
export type Hydrate = (plan: EmbedPlan, body: unknown, context: OperationContext) => Promise<unknown>;

/** Short, as a last net: changes move the epoch and make older entries unreachable at once. */
const cacheTtlMs = 30_000;
const epochTtlMs = 86_400_000;
const batchSize = 1000;

/** Key of the counter that the owner of a kind increments with every change of such a resource. */
export const embedEpochKey = (kind: EmbedKind): string => `embed-epoch:${kind}`;

export function createHydrate(contract: Contract, call: CallOperation, cache: Cache, logger: Logger): Hydrate {
  const load = async (
    kind: EmbedKind,
    ids: readonly string[],
    context: OperationContext,
  ): Promise<Map<string, unknown>> => {
    const { operationId, list } = loaders[kind];
    const operation = contract.operation(operationId);
    const found = new Map<string, unknown>();
    for (let start = 0; start < ids.length; start += batchSize) {
      const body = { ids: ids.slice(start, start + batchSize) };
      const answer = await call(operation, context, { params: {}, query: {}, body });
      for (const item of Object(answer.body)[list] ?? []) found.set(item.id, item);
    }
    return found;
  };

  const loadCached = async (
    kind: EmbedKind,
    ids: readonly string[],
    context: OperationContext,
  ): Promise<Map<string, unknown>> => {
    const found = new Map<string, unknown>();
    let epoch: number;
    try {
      epoch = await cache.increment(embedEpochKey(kind), { by: 0, ttlMs: epochTtlMs });
      const kept = await cache.getMany<unknown>(ids.map((id) => `embed:${kind}:${epoch}:${id}`));
      ids.forEach((id, index) => {
        if (kept[index] !== undefined) found.set(id, kept[index]);
      });
    } catch (error) {
      logger.debug('embedded resources are read without the cache', { error });
      return load(kind, ids, context);
    }
    const absent = ids.filter((id) => !found.has(id));
    if (absent.length === 0) return found;
    const loaded = await load(kind, absent, context);
    for (const [id, item] of loaded) {
      found.set(id, item);
      cache.set(`embed:${kind}:${epoch}:${id}`, item, { ttlMs: cacheTtlMs }).catch((error: unknown) => {
        logger.debug('an embedded resource is not kept in the cache', { error });
      });
    }
    return found;
  };

  return async (plan, body, context) => {
    const wanted = new Map<EmbedKind, Set<string>>();
    replaceEmbeds(plan, body, (kind, id) => {
      const ids = wanted.get(kind) ?? new Set();
      wanted.set(kind, ids.add(id));
      return id;
    });
    if (wanted.size === 0) return body;
    const loaded = new Map<EmbedKind, Map<string, unknown>>();
    await Promise.all(
      [...wanted].map(async ([kind, ids]) => {
        const read = loaders[kind].shared ? loadCached : load;
        loaded.set(kind, await read(kind, [...ids], context));
      }),
    );
    return replaceEmbeds(plan, body, (kind, id) => {
      const resource = loaded.get(kind)?.get(id) ?? loaders[kind].tombstone?.(id, context.baseUrl);
      if (resource === undefined) {
        throw new Problem('internal', 'embed.missing', `An embedded ${kind} is missing.`, { details: { kind, id } });
      }
      return resource;
    });
  };
}
