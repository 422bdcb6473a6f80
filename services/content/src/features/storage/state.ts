import { ignoreUnknown } from '@bindery/event-sourcing';
import type { StorageUploadEvent, StoredBytes, UploadRequest } from './events.ts';

/** One upload, as far as decisions need it. */
export type StorageUploadState =
  | { readonly status: 'none' }
  | ({ readonly status: 'waiting' | 'purged' } & UploadRequest)
  | ({ readonly status: 'stored'; readonly bytes: StoredBytes; readonly keptUntil: string } & UploadRequest);

export const initialState = (): StorageUploadState => ({ status: 'none' });

/** Folds one event into the state. Never throws. */
export const evolve = (state: StorageUploadState, event: StorageUploadEvent): StorageUploadState => {
  if (event.type === 'StorageUploadRequested') return { status: 'waiting', ...event.data };
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'StorageFileUploaded': {
      const { blob, contentType, keptUntil } = event.data;
      return { ...state, status: 'stored', bytes: { blob, contentType }, keptUntil };
    }
    case 'StorageUploadPurged':
      return { ...state, status: 'purged' };
    default:
      return ignoreUnknown(state, event);
  }
};
