import { documentPerStream, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { Collection, CollectionSpec } from '@bindery/read-store';
import { importRunAggregate } from './aggregate.ts';
import type { ImportedPage, ImportRequest, ImportRunEvent } from './events.ts';

/** An import, as stored for reading and for the look for work. */
export interface ImportRunDocument {
  readonly id: string;
  readonly organizationId: string;
  readonly spaceId: string;
  /** Where it goes: the change request, or `primary`. */
  readonly into: string;
  readonly site: string | null;
  readonly request: ImportRequest;
  readonly status: 'pending' | 'in-progress' | 'completed' | 'failed' | 'cancelled';
  /** Pending or in progress. */
  readonly active: boolean;
  /** There is work to do: to go on, or to clear away. */
  readonly due: boolean;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly completedAt?: string;
  readonly updatedAt: string;
  readonly reason?: string;
  /** Where it came to, when it did not go into a change request by itself. */
  readonly changeRequestId?: string;
}

/** The pages of an import: kept apart, since they are many. */
export interface ImportPagesDocument {
  readonly pages: readonly {
    readonly id: string;
    readonly sourceURL?: string;
    readonly type: 'page' | 'folder';
    readonly status: 'complete' | 'pending';
  }[];
}

/** `into` of imports into the primary content; no id is that short. */
export const primary = 'primary';

export const importRunsCollection: CollectionSpec = {
  name: 'content.import_runs',
  version: 1,
  indexes: [
    { name: 'by_due', fields: ['due'] },
    { name: 'by_organization', fields: ['organizationId', 'createdAt'] },
    { name: 'by_active', fields: ['organizationId', 'active'] },
    { name: 'by_space', fields: ['spaceId', 'createdAt'] },
    { name: 'by_status', fields: ['organizationId', 'status', 'createdAt'] },
    { name: 'by_site', fields: ['site', 'createdAt'] },
    { name: 'by_target', fields: ['spaceId', 'into', 'createdAt'] },
  ],
};
export const importPagesCollection: CollectionSpec = { name: 'content.import_pages', version: 1, indexes: [] };

export type ImportRunsCollection = Pick<Collection<ImportRunDocument>, 'get' | 'query' | 'count'>;
export const openImportRuns = (live: LiveCollection): ImportRunsCollection =>
  live<ImportRunDocument>(importRunsCollection);

/** An import as it is when it was just asked for. */
export const requestedDocument = (request: ImportRequest): ImportRunDocument => ({
  id: request.importRunId,
  organizationId: request.organizationId,
  spaceId: request.spaceId,
  into: request.changeRequestId ?? primary,
  site: request.siteId ?? null,
  request,
  status: 'pending',
  active: true,
  due: true,
  createdAt: request.requestedAt,
  updatedAt: request.requestedAt,
});

const ended = (
  document: ImportRunDocument,
  status: ImportRunDocument['status'],
  at: string,
  reason: string | undefined,
): ImportRunDocument => ({
  ...document,
  status,
  active: false,
  completedAt: at,
  updatedAt: at,
  ...(reason === undefined ? {} : { reason }),
});

const after = (document: ImportRunDocument | undefined, event: ImportRunEvent): ImportRunDocument | undefined => {
  if (event.type === 'ImportRunRequested') return requestedDocument(event.data);
  if (document === undefined) return undefined;
  switch (event.type) {
    case 'ImportRunTaken': {
      const { takenAt } = event.data;
      return { ...document, status: 'in-progress', startedAt: document.startedAt ?? takenAt, updatedAt: takenAt };
    }
    case 'ImportRunProgressed':
      return { ...document, updatedAt: event.data.progressedAt };
    case 'ImportRunCompleted': {
      const { completedAt, reason, changeRequestId } = event.data;
      return { ...ended(document, 'completed', completedAt, reason), changeRequestId };
    }
    case 'ImportRunFailed':
      return ended(document, 'failed', event.data.failedAt, event.data.reason);
    case 'ImportRunCancelled':
      return ended(document, 'cancelled', event.data.cancelledAt, undefined);
    case 'ImportRunCleared':
      return { ...document, due: false };
    default:
      return document;
  }
};

const handles = [
  'ImportRunRequested',
  'ImportRunTaken',
  'ImportRunProgressed',
  'ImportRunLanding',
  'ImportRunCompleted',
  'ImportRunFailed',
  'ImportRunCancelled',
  'ImportRunCleared',
] as const;

/** `content.import_runs`: one document per import. */
const runsProjection: Projection = documentPerStream<ImportRunEvent, ImportRunDocument>({
  name: 'import-runs',
  aggregate: importRunAggregate.name,
  collection: importRunsCollection,
  handles,
  evolve: (document, event) => after(document, event as unknown as ImportRunEvent),
});

type Page = ImportPagesDocument['pages'][number];
const isAddress = (address: string): boolean => /^https?:/.test(address);

/** What is in the content, in its order; then what is not, which stays pending. */
const finalPages = (before: readonly Page[], made: readonly ImportedPage[]): readonly Page[] => {
  const known = new Map(before.map((page) => [page.id, page]));
  const done = made.map(({ id, type }): Page => ({ ...known.get(id), id, type, status: 'complete' }));
  const complete = new Set(made.map(({ id }) => id));
  return [
    ...done,
    ...before.filter(({ id }) => !complete.has(id)).map((page): Page => ({ ...page, status: 'pending' })),
  ];
};

/** `content.import_pages`: one document per import. */
const pagesProjection: Projection = documentPerStream<ImportRunEvent, ImportPagesDocument>({
  name: 'import-pages',
  aggregate: importRunAggregate.name,
  collection: importPagesCollection,
  handles: ['ImportRunProgressed', 'ImportRunCompleted'],
  keeps: false,
  evolve(document, recorded) {
    const event = recorded as unknown as ImportRunEvent;
    const pages = document?.pages ?? [];
    if (event.type === 'ImportRunCompleted') return { pages: finalPages(pages, event.data.pages) };
    if (event.type !== 'ImportRunProgressed') return document;
    const { found, settled } = event.data;
    const outcomes = new Map(settled.map(({ id, outcome }) => [id, outcome]));
    const added = found
      .filter(({ kind }) => kind === 'page')
      .map(({ id, address }): Page => {
        const source = isAddress(address) ? { sourceURL: address } : {};
        return { id, ...source, type: 'page', status: 'pending' };
      });
    return {
      pages: [...pages, ...added]
        // A second address of another page, and what must not be read, become no pages.
        .filter(({ id }) => outcomes.get(id) !== 'same' && outcomes.get(id) !== 'skipped')
        .map((page) => (outcomes.get(page.id) === 'read' ? { ...page, status: 'complete' } : page)),
    };
  },
});

/** Read models of imports. */
export const importRunProjections: readonly Projection[] = [runsProjection, pagesProjection];
