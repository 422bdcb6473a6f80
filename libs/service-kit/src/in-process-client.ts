import { deadlineExceeded } from './deadline.ts';
import { Problem } from './errors.ts';
import type { AnyHandler, HandlerMap, ServiceClient } from './operation.ts';

/**
 * Calls handlers that live in this process (DESIGN section 3). Gives up when the signal of the context aborts, even if
 * the handler does not.
 * @param maps handlers of one or several services
 * @throws Error when two services handle the same operation
 */
export function createInProcessClient(...maps: readonly HandlerMap[]): ServiceClient {
  const handlers = new Map<string, AnyHandler>();
  for (const [id, handler] of maps.flatMap((map) => Object.entries(map))) {
    if (handlers.has(id)) throw new Error(`operation ${id} has two handlers`);
    handlers.set(id, handler);
  }
  const client: { call(operation: { id: string }, ...rest: Parameters<AnyHandler>): Promise<unknown> } = {
    call({ id }, context, request) {
      const handler = handlers.get(id);
      if (!handler) return Promise.reject(noHandler(id));
      return deadlineExceeded.race(context.signal, () => handler(context, request));
    },
  };
  // Handlers are keyed by operation id, so the answer of a call has the type that the operation declares.
  return client as ServiceClient;
}

/** 500: the contract and the services disagree; a mistake of ours. */
export const noHandler = (id: string): Problem =>
  new Problem('internal', 'operation.no_handler', `No service handles ${id}.`);

/**
 * A client for services that call one another: made before them, bound to the real one when all of them exist.
 * Calls before that fail.
 */
export function createLateClient(): { readonly client: ServiceClient; bind(client: ServiceClient): void } {
  let bound: ServiceClient | undefined;
  return {
    client: {
      call(operation, context, request) {
        if (bound === undefined) return Promise.reject(noHandler(operation.id));
        return bound.call(operation, context, request);
      },
    },
    bind(client) {
      bound = client;
    },
  };
}
