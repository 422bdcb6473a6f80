import type { BlobStore } from '@bindery/blob-store';
import type { PdfWriter } from '@bindery/pdf';
import type { Clock } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { Access } from '../access/index.ts';
import type { ChangeRequestLookup } from '../change-requests/index.ts';
import type { RevisionReader } from '../revisions/index.ts';

/** What PDF files are made with. */
export interface PdfDeps {
  readonly access: Access;
  readonly reader: RevisionReader;
  readonly changeRequests: ChangeRequestLookup;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether the space is there and not deleted. */
  readonly spaceExists: (spaceId: string) => Promise<boolean>;
  /** At least 16 bytes; signs addresses. */
  readonly secret: string;
  /** Writes the files; beside the main thread by default. */
  readonly writer?: PdfWriter;
}
