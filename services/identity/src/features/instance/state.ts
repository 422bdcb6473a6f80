import type { InstanceEvent } from './events.ts';

/** Whether the first start is complete, and who administers the instance. */
export type InstanceState =
  | { readonly status: 'new' }
  | { readonly status: 'initialized'; readonly administratorId: string; readonly organizationId: string };

/** Prefix of the one stream of the instance, whose id is `main`. */
export const instanceAggregateName = 'identity.instance';

/** Id of the only instance there is. */
export const instanceId = 'main';

export const initialState = (): InstanceState => ({ status: 'new' });

export const evolve = (state: InstanceState, event: InstanceEvent): InstanceState => {
  if (event.type !== 'InstanceInitialized') return state;
  const { administratorId, organizationId } = event.data;
  return { status: 'initialized', administratorId, organizationId };
};
