import type { BlobStore } from '@bindery/blob-store';
import type { LiveCollection } from '@bindery/event-sourcing';
import type { GuardedFetch } from '@bindery/guarded-fetch';
import type { SpecificationReaderOptions } from '@bindery/openapi-reader';
import type { Clock, CursorCodec } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { Access } from '../access/index.ts';
import type { OpenAPISpecRepository } from './aggregate.ts';

/** Rhythms and limits of the work on specifications; every one has a default. */
export interface OpenAPITuning {
  /** Time between two looks at an address, in ms; some are made up to a tenth later. Default 6 hours. */
  readonly refetchMs?: number;
  /** First wait after an address could not be fetched, in ms; it doubles, up to `refetchMs`. Default 5 minutes. */
  readonly retryMs?: number;
  /** How often work that is due is looked for, in ms. Default 5,000. */
  readonly sweepMs?: number;
  /** Specifications worked on at a time in one process. Default 4. */
  readonly concurrency?: number;
  /** For one fetch, redirects included, in ms. Default 20,000. */
  readonly fetchTimeoutMs?: number;
  /** After so many ms another process takes over what was begun; more than fetching and reading take. Default 120,000. */
  readonly leaseMs?: number;
  readonly reader?: SpecificationReaderOptions;
  /** Versions that are kept. Default `limits.openapi.versions`. */
  readonly maxVersions?: number;
}

/** What OpenAPI specifications work with. */
export interface OpenAPIDeps extends OpenAPITuning {
  readonly access: Access;
  readonly repository: OpenAPISpecRepository;
  readonly live: LiveCollection;
  readonly blobs: BlobStore;
  readonly fetch: GuardedFetch;
  readonly cursors: CursorCodec;
  readonly clock: Clock;
  readonly logger: Logger;
  /** At least 16 bytes; signs addresses of documents. */
  readonly secret: string;
}
