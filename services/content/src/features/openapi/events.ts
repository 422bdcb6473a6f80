/** Where a specification comes from. A text is in the blob store, addressed by its SHA-256. */
export type SpecSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'text'; readonly sha256: string; readonly size: number };

export type SpecVisibility = 'private' | 'public';
export type ProcessErrorCode = 'FETCH_TIMEOUT' | 'FETCH_ERROR' | 'PARSE_ERROR';
export interface ProcessError {
  readonly message: string;
  readonly code?: string;
}

/** Bytes in the blob store. */
export interface StoredBytes {
  readonly sha256: string;
  readonly size: number;
}

/** What a document was found to be. */
export interface ReadDocument {
  readonly versionId: string;
  /** As it came. */
  readonly raw: StoredBytes;
  /** As JSON. */
  readonly json: StoredBytes;
  readonly format: 'json' | 'yaml';
  /** Of OpenAPI, as the document declares it. */
  readonly specVersion: string;
  /** The same for the same content, whatever the notation. */
  readonly contentHash: string;
}

interface Ids {
  readonly organizationId: string;
  readonly specId: string;
  readonly slug: string;
}

export interface OpenAPISpecCreated {
  readonly type: 'OpenAPISpecCreated';
  readonly data: Ids & { readonly source: SpecSource; readonly createdBy: string; readonly createdAt: string };
}
export interface OpenAPISpecSourceChanged {
  readonly type: 'OpenAPISpecSourceChanged';
  readonly data: Ids & { readonly source: SpecSource; readonly changedBy: string; readonly changedAt: string };
}
/** Somebody wants the source to be looked at again, now. */
export interface OpenAPISpecRefreshRequested {
  readonly type: 'OpenAPISpecRefreshRequested';
  readonly data: Ids & { readonly requestedBy: string; readonly requestedAt: string };
}
export interface OpenAPISpecVisibilityChanged {
  readonly type: 'OpenAPISpecVisibilityChanged';
  readonly data: Ids & { readonly visibility: SpecVisibility; readonly changedBy: string; readonly changedAt: string };
}
export interface OpenAPISpecProcessingStarted {
  readonly type: 'OpenAPISpecProcessingStarted';
  readonly data: Ids & {
    readonly runId: string;
    readonly startedAt: string;
    /** ISO time from which another run may take over. */
    readonly until: string;
  };
}
export interface OpenAPISpecVersionAdded {
  readonly type: 'OpenAPISpecVersionAdded';
  readonly data: Ids &
    ReadDocument & {
      /** From 1. */
      readonly number: number;
      readonly source: SpecSource;
      /** The oldest one, where there are too many. */
      readonly dropped?: string;
      readonly createdAt: string;
    };
}
export interface OpenAPISpecProcessed {
  readonly type: 'OpenAPISpecProcessed';
  readonly data: Ids & {
    readonly runId: string;
    readonly processedAt: string;
    /** ISO time of the next look at the source; absent where it cannot change. */
    readonly dueAt?: string;
  };
}
export interface OpenAPISpecProcessingFailed {
  readonly type: 'OpenAPISpecProcessingFailed';
  readonly data: Ids & {
    readonly runId: string;
    readonly code: ProcessErrorCode;
    readonly errors: readonly ProcessError[];
    readonly processedAt: string;
    readonly dueAt?: string;
  };
}
/** The slug is free afterwards. */
export interface OpenAPISpecDeleted {
  readonly type: 'OpenAPISpecDeleted';
  readonly data: Ids & {
    readonly versions: readonly string[];
    readonly deletedBy: string;
    readonly deletedAt: string;
  };
}

export type OpenAPISpecEvent =
  | OpenAPISpecCreated
  | OpenAPISpecSourceChanged
  | OpenAPISpecRefreshRequested
  | OpenAPISpecVisibilityChanged
  | OpenAPISpecProcessingStarted
  | OpenAPISpecVersionAdded
  | OpenAPISpecProcessed
  | OpenAPISpecProcessingFailed
  | OpenAPISpecDeleted;
