import { documentPerStream, documentsPerEvent, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { Collection, CollectionSpec } from '@bindery/read-store';
import { openapiSpecAggregate } from './aggregate.ts';
import type {
  OpenAPISpecEvent,
  OpenAPISpecVersionAdded,
  ProcessError,
  ProcessErrorCode,
  ReadDocument,
  SpecSource,
  SpecVisibility,
} from './events.ts';

/** A specification, as stored for reading; its id is `specKey`. */
export interface SpecDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly slug: string;
  readonly source: SpecSource;
  readonly visibility: SpecVisibility;
  readonly processingState: 'pending' | 'progress' | 'complete';
  /** From this time on somebody should work on it; absent: never. */
  readonly dueAt?: string;
  readonly lastVersion?: ReadDocument;
  readonly lastProcessedAt?: string;
  readonly error?: { readonly code: ProcessErrorCode; readonly errors: readonly ProcessError[] };
  /** In a row. */
  readonly failures: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A version, as stored for reading; its id is its own. */
export interface VersionDocument extends ReadDocument {
  readonly specId: string;
  readonly number: number;
  readonly source: SpecSource;
  readonly createdAt: string;
}

const specsCollection: CollectionSpec = {
  name: 'content.openapi_specs',
  version: 1,
  indexes: [
    { name: 'by_organization', fields: ['organizationId', 'createdAt'] },
    { name: 'by_id', fields: ['id'] },
    { name: 'by_due', fields: ['dueAt'] },
  ],
};
const versionsCollection: CollectionSpec = {
  name: 'content.openapi_versions',
  version: 1,
  indexes: [{ name: 'by_spec', fields: ['specId', 'number'] }],
};

export type SpecsCollection = Pick<Collection<SpecDocument>, 'get' | 'query' | 'count'>;
export type VersionsCollection = Pick<Collection<VersionDocument>, 'get' | 'query' | 'count'>;
export const openSpecs = (live: LiveCollection): SpecsCollection => live<SpecDocument>(specsCollection);
export const openVersions = (live: LiveCollection): VersionsCollection => live<VersionDocument>(versionsCollection);

const withDue = ({ dueAt: _, ...document }: SpecDocument, dueAt: string | undefined): SpecDocument =>
  dueAt === undefined ? document : { ...document, dueAt };

const evolveSpec = (before: SpecDocument | undefined, event: OpenAPISpecEvent): SpecDocument | null | undefined => {
  if (event.type === 'OpenAPISpecCreated') {
    const { specId: id, organizationId, slug, source, createdAt } = event.data;
    const start = { visibility: 'private', processingState: 'pending', failures: 0, dueAt: createdAt } as const;
    return { id, organizationId, slug, source, ...start, createdAt, updatedAt: createdAt };
  }
  if (before === undefined) return undefined;
  switch (event.type) {
    case 'OpenAPISpecSourceChanged': {
      const { source, changedAt } = event.data;
      const pending = { source, processingState: 'pending', failures: 0, updatedAt: changedAt } as const;
      return withDue({ ...before, ...pending }, changedAt);
    }
    case 'OpenAPISpecRefreshRequested':
      return withDue({ ...before, processingState: 'pending' }, event.data.requestedAt);
    case 'OpenAPISpecVisibilityChanged':
      return { ...before, visibility: event.data.visibility, updatedAt: event.data.changedAt };
    case 'OpenAPISpecProcessingStarted':
      return withDue({ ...before, processingState: 'progress' }, event.data.until);
    case 'OpenAPISpecVersionAdded': {
      const { versionId, raw, json, format, specVersion, contentHash, createdAt } = event.data;
      const lastVersion = { versionId, raw, json, format, specVersion, contentHash };
      return { ...before, lastVersion, updatedAt: createdAt };
    }
    case 'OpenAPISpecProcessed': {
      const { error: _, ...rest } = before;
      const { processedAt, dueAt } = event.data;
      return withDue({ ...rest, processingState: 'complete', lastProcessedAt: processedAt, failures: 0 }, dueAt);
    }
    case 'OpenAPISpecProcessingFailed': {
      const { code, errors, processedAt, dueAt } = event.data;
      const failed = { error: { code, errors }, failures: before.failures + 1 };
      return withDue({ ...before, ...failed, processingState: 'complete', lastProcessedAt: processedAt }, dueAt);
    }
    case 'OpenAPISpecDeleted':
      return null;
    default:
      return before;
  }
};

const specsProjection: Projection = documentPerStream<OpenAPISpecEvent, SpecDocument>({
  name: 'openapi-specs',
  aggregate: openapiSpecAggregate.name,
  collection: specsCollection,
  handles: [
    'OpenAPISpecCreated',
    'OpenAPISpecSourceChanged',
    'OpenAPISpecRefreshRequested',
    'OpenAPISpecVisibilityChanged',
    'OpenAPISpecProcessingStarted',
    'OpenAPISpecVersionAdded',
    'OpenAPISpecProcessed',
    'OpenAPISpecProcessingFailed',
    'OpenAPISpecDeleted',
  ],
  evolve: (document, event) => evolveSpec(document, event as unknown as OpenAPISpecEvent),
});

const versionOf = ({ data }: OpenAPISpecVersionAdded): VersionDocument => {
  const { organizationId: _, slug: _slug, dropped: _dropped, ...version } = data;
  return version;
};

const versionsProjection: Projection = documentsPerEvent<OpenAPISpecEvent>({
  name: 'openapi-versions',
  aggregates: [openapiSpecAggregate.name],
  collections: [versionsCollection],
  handles: ['OpenAPISpecVersionAdded', 'OpenAPISpecDeleted'],
  toDocuments: (event) => {
    const gone = (id: string) => ({ collection: versionsCollection, id, document: null });
    const fact = event as unknown as OpenAPISpecEvent;
    if (fact.type === 'OpenAPISpecDeleted') return fact.data.versions.map(gone);
    if (fact.type !== 'OpenAPISpecVersionAdded') return [];
    const { versionId, dropped } = fact.data;
    const added = { collection: versionsCollection, id: versionId, document: versionOf(fact) };
    return dropped === undefined ? [added] : [added, gone(dropped)];
  },
});

/** Read models of OpenAPI specifications. */
export const openapiProjections: readonly Projection[] = [specsProjection, versionsProjection];
