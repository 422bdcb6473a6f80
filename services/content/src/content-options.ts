import type { BlobStore } from '@bindery/blob-store';
import type {
  changeRequestOperations,
  commentOperations,
  contentAuditInternalOperations,
  contentChangeOperations,
  fileOperations,
  gitOperations,
  importRunOperations,
  linkOperations,
  openapiSpecOperations,
  pageOperations,
  reviewOperations,
  revisionOperations,
  searchOperations,
  spaceOperations,
  templateOperations,
} from '@bindery/contracts';
import type { RuntimeTuning, ServicePorts } from '@bindery/event-sourcing';
import type { GuardedFetch } from '@bindery/guarded-fetch';
import type { SearchIndex } from '@bindery/search';
import type { ServiceClient } from '@bindery/service-kit';
import type { AccessOperations } from './content-access.ts';
import type { TransferOperations, TransferOptions } from './content-transfers.ts';
import type { GitDeps } from './features/git/index.ts';
import type { ImportRunDeps } from './features/import-runs/index.ts';
import type { OpenAPITuning } from './features/openapi/index.ts';

/** What the content service is made of, and its rhythms. */
export interface ContentOptions {
  readonly ports: ServicePorts;
  /** Operations of the other services. */
  readonly services: ServiceClient;
  readonly blobStore: BlobStore;
  /** Local to this process, fed by it. */
  readonly searchIndex: SearchIndex;
  /** Fetches files that callers name by URL. */
  readonly fetchGuard: GuardedFetch;
  /** At least 16 characters, the same in every replica: signs cursors and download addresses. Another one ends both. */
  readonly cursorSecret: string;
  /** How often deleted spaces are looked through for ones to purge, in ms. Default 60,000. */
  readonly purgeIntervalMs?: number;
  /** How often merges that were begun and left are looked for, in ms. Default 15,000. */
  readonly settleIntervalMs?: number;
  /** How often it is looked whether another replica was told to rebuild search, in ms. Default 2000. */
  readonly searchWatchMs?: number;
  /** Other limits of git sync than the default ones. */
  readonly git?: Pick<GitDeps, 'timeoutMs' | 'sweepMs' | 'graceMs' | 'limits'>;
  /** Other rhythms and limits of OpenAPI specifications than the default ones. */
  readonly openapi?: OpenAPITuning;
  /** Other rhythms of uploads and imports than the default ones. */
  readonly transfers?: TransferOptions;
  /** Other rhythms and limits of imports than the default ones. */
  readonly imports?: Pick<ImportRunDeps, 'sweepMs' | 'reading'>;
  readonly tuning?: Partial<RuntimeTuning>;
}

/** Every operation that the content service answers. */
export type ContentOperations = typeof spaceOperations &
  AccessOperations &
  typeof contentAuditInternalOperations &
  typeof revisionOperations &
  typeof pageOperations &
  typeof fileOperations &
  typeof searchOperations &
  typeof changeRequestOperations &
  typeof contentChangeOperations &
  typeof commentOperations &
  typeof reviewOperations &
  typeof gitOperations &
  typeof importRunOperations &
  typeof linkOperations &
  typeof templateOperations &
  TransferOperations &
  typeof openapiSpecOperations;
