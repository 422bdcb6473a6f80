import type { BlobStore } from '@bindery/blob-store';
import type { LiveCollection } from '@bindery/event-sourcing';
import type { Clock } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { Access } from '../access/index.ts';
import type { StorageUploadRepository } from './aggregate.ts';

/** What uploads work with. */
export interface StorageDeps {
  readonly access: Access;
  readonly repository: StorageUploadRepository;
  readonly live: LiveCollection;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** At least 16 bytes; signs addresses of uploads. */
  readonly secret: string;
  /** How often uploads that are due for deletion are looked for, in ms. Default 60,000. */
  readonly purgeMs?: number;
}
