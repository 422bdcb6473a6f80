import type { AggregateDefinition, Repository } from '@bindery/event-sourcing';
import { type StorageUploadCommand, storageUploadDecider } from './decider.ts';
import type { StorageUploadEvent } from './events.ts';
import type { StorageUploadState } from './state.ts';

/** Streams `content.storage-<key>`. */
export const storageUploadAggregate: AggregateDefinition<StorageUploadState, StorageUploadCommand, StorageUploadEvent> =
  { name: 'content.storage', decider: storageUploadDecider };
export type StorageUploadRepository = Repository<StorageUploadState, StorageUploadCommand, StorageUploadEvent>;
