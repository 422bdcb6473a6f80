import type { BlobStore } from '@bindery/blob-store';
import type { Cache } from '@bindery/cache';
import type { pdfOperations, storageOperations } from '@bindery/contracts';
import type { Projection, ServiceRuntime } from '@bindery/event-sourcing';
import type { GuardedFetch } from '@bindery/guarded-fetch';
import type { Clock, CursorCodec, HandlersFor } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { Access } from './features/access/index.ts';
import type { ChangeRequestLookup, ChangeRequestRepository } from './features/change-requests/index.ts';
import type { FileLinks, RawRoute, Uploads } from './features/files/index.ts';
import { createPdfFeature } from './features/pdf/index.ts';
import type { RevisionStore } from './features/revisions/index.ts';
import type { ChangeRequestCounts, SpaceRepository, SpacesCollection } from './features/spaces/index.ts';
import {
  createStorageFeature,
  storageUploadAggregate,
  storageUploadsProjection,
  type UploadRoute,
} from './features/storage/index.ts';

/** Read models of what comes in and goes out. */
export const transferProjections: readonly Projection[] = [storageUploadsProjection];

/** Operations on what comes in and goes out. */
export type TransferOperations = typeof storageOperations & typeof pdfOperations;

/** Other rhythms and limits than the default ones. */
export interface TransferOptions {
  /** How often uploads that are due for deletion are looked for, in ms. Default 60,000. */
  readonly uploadPurgeMs?: number;
}

export interface TransferDeps extends TransferOptions {
  readonly runtime: Pick<ServiceRuntime, 'repository' | 'live'>;
  readonly access: Access;
  readonly reader: RevisionStore;
  readonly cursors: CursorCodec;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly blobs: BlobStore;
  readonly fetch: GuardedFetch;
  readonly spaces: SpacesCollection;
  readonly spaceRepository: SpaceRepository;
  readonly repository: ChangeRequestRepository;
  readonly changeRequests: ChangeRequestLookup;
  readonly counts: Pick<ChangeRequestCounts, 'changed'>;
  readonly fileLinks: Pick<FileLinks, 'represent'>;
  /** At least 16 bytes; signs addresses. */
  readonly secret: string;
}

/** What comes into spaces as a whole, and goes out: uploads, imports, PDF files. */
export const createTransfers = (deps: TransferDeps) => {
  const { runtime, access, blobs, clock, logger, secret } = deps;
  const storage = createStorageFeature({
    ...{ access, blobs, clock, logger, secret, live: runtime.live },
    repository: runtime.repository(storageUploadAggregate),
    ...(deps.uploadPurgeMs === undefined ? {} : { purgeMs: deps.uploadPurgeMs }),
  });
  const pdf = createPdfFeature({
    ...{ access, blobs, clock, logger, secret, reader: deps.reader, changeRequests: deps.changeRequests },
    spaceExists: async (id) => (await deps.spaces.get(id))?.document.deleted === false,
  });
  const handlers: HandlersFor<TransferOperations> = { ...storage.handlers, ...pdf.handlers };
  const rawRoutes: readonly (RawRoute | UploadRoute)[] = [storage.rawRoute, pdf.rawRoute];
  const uploads: Uploads & Pick<typeof storage, 'find'> = storage;
  return {
    handlers,
    rawRoutes,
    uploads,
    start(): void {
      storage.start();
    },
    async stop(): Promise<void> {
      await storage.stop();
    },
  };
};
