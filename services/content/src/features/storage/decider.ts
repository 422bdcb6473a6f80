import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict, Problem } from '@bindery/service-kit';
import type { StorageUploadEvent, StoredBytes, UploadRequest } from './events.ts';
import { evolve, initialState, type StorageUploadState } from './state.ts';

export interface RequestStorageUpload {
  readonly type: 'RequestStorageUpload';
  readonly data: UploadRequest;
}
/** The bytes have come. */
export interface StoreUpload {
  readonly type: 'StoreUpload';
  readonly data: StoredBytes & { readonly uploadedAt: string; readonly keptUntil: string };
}
/** Gives up what did not come in time, and what was kept long enough. */
export interface PurgeUpload {
  readonly type: 'PurgeUpload';
  readonly data: { readonly purgedAt: string };
}
export type StorageUploadCommand = RequestStorageUpload | StoreUpload | PurgeUpload;

const decide = (command: StorageUploadCommand, state: StorageUploadState): readonly StorageUploadEvent[] => {
  switch (command.type) {
    case 'RequestStorageUpload':
      if (state.status === 'none') return [{ type: 'StorageUploadRequested', data: command.data }];
      if (state.key === command.data.key && state.uploader === command.data.uploader) return [];
      throw conflict('storage.exists', 'This upload exists already.');
    case 'StoreUpload': {
      assertWaiting(state, command.data.uploadedAt);
      const { key, organizationId, kind, size, uploader: uploadedBy } = state;
      const data = { key, organizationId, kind, size, uploadedBy, ...command.data };
      return [{ type: 'StorageFileUploaded', data }];
    }
    case 'PurgeUpload': {
      if (state.status === 'none' || state.status === 'purged') return [];
      const due = state.status === 'stored' ? state.keptUntil : state.expiresAt;
      if (command.data.purgedAt < due) return [];
      const { key, organizationId } = state;
      return [{ type: 'StorageUploadPurged', data: { key, organizationId, ...command.data } }];
    }
    default:
      return assertNever(command);
  }
};

/**
 * Refuses what does not wait for bytes.
 * @param now ISO time
 * @throws Problem not-found (never asked for, or too late), conflict (the bytes are there)
 */
export function assertWaiting(
  state: StorageUploadState,
  now: string,
): asserts state is Extract<StorageUploadState, { readonly status: 'waiting' | 'purged' }> {
  if (state.status === 'stored') throw conflict('storage.used', 'This address was used already; ask for another one.');
  if (state.status !== 'waiting' || now >= state.expiresAt)
    throw new Problem('not-found', 'storage.expired', 'The address of this upload has expired; ask for another one.');
}

/** The rules of one upload: the bytes come once and in time. */
export const storageUploadDecider: Decider<StorageUploadState, StorageUploadCommand, StorageUploadEvent> = {
  initialState,
  decide,
  evolve,
};
