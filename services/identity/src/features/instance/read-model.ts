import { documentPerStream, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import type { InstanceEvent } from './events.ts';
import { instanceAggregateName, instanceId } from './state.ts';

/** Who administers the instance. */
export interface InstanceDocument {
  readonly administrators: readonly string[];
}

/** The one document of the instance. */
export const instanceCollection: CollectionSpec = { name: 'identity.instance', version: 1, indexes: [] };

export const instanceProjection: Projection = documentPerStream<InstanceEvent, InstanceDocument>({
  name: 'instance',
  aggregate: instanceAggregateName,
  collection: instanceCollection,
  handles: ['InstanceInitialized'],
  evolve: (_document, { data }) => ({ administrators: [data.administratorId] }),
});

/** Whether a user may use the administration. */
export const isAdministrator = async (live: LiveCollection, userId: string): Promise<boolean> => {
  const stored = await live<InstanceDocument>(instanceCollection).get(instanceId);
  return stored?.document.administrators.includes(userId) ?? false;
};
