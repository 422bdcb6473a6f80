import {
  type DomainEvent,
  documentPerStream,
  documentsPerEvent,
  type LiveCollection,
  type Projection,
  type Recorded,
} from '@bindery/event-sourcing';
import type { Collection, CollectionSpec } from '@bindery/read-store';
import type { RevisionSource } from '../revisions/index.ts';
import { gitSyncAggregate } from './aggregate.ts';
import type { GitCommit, GitOperationRequest, GitPlace, GitSyncEvent } from './events.ts';

/** How a space stands with its repository, as stored for reading. */
export interface GitSyncDocument {
  readonly spaceId: string;
  readonly organizationId: string;
  readonly request: GitOperationRequest;
  /** Filter of the look for operations that were left. */
  readonly running: boolean;
  readonly state: 'running' | 'failure' | 'success' | 'timeout';
  readonly endedAt?: string;
  readonly error?: string;
  readonly updatedAt: string;
  /** The operation whose places are the current ones: changes whenever they do. */
  readonly placesOf?: string;
}

/** Where everything of a space stands in its repository, by id. */
export interface GitPlacesDocument {
  /** As in `GitSyncDocument.placesOf`. */
  readonly operationId: string;
  readonly places: Readonly<Record<string, Omit<GitPlace, 'id'>>>;
}

/** The commit that a revision came from or went to. */
export interface GitCommitDocument extends GitCommit {
  readonly spaceId: string;
  readonly exported: boolean;
  readonly ref: string;
  readonly url?: string;
}

export const gitSyncCollection: CollectionSpec = {
  name: 'content.git_sync',
  version: 1,
  indexes: [{ name: 'by_running', fields: ['running'] }],
};
export const gitPlacesCollection: CollectionSpec = { name: 'content.git_places', version: 1, indexes: [] };
export const gitCommitsCollection: CollectionSpec = { name: 'content.git_commits', version: 1, indexes: [] };

export type GitSyncCollection = Pick<Collection<GitSyncDocument>, 'get' | 'getMany' | 'query'>;
export const openGitSync = (live: LiveCollection): GitSyncCollection => live<GitSyncDocument>(gitSyncCollection);

const stateAfter = (before: GitSyncDocument | undefined, event: GitSyncEvent): GitSyncDocument | undefined => {
  if (event.type === 'GitSyncStarted') {
    const { spaceId, organizationId, ...request } = event.data;
    const kept = before?.placesOf === undefined ? {} : { placesOf: before.placesOf };
    return { spaceId, organizationId, request, running: true, state: 'running', updatedAt: request.startedAt, ...kept };
  }
  if (before === undefined) return undefined;
  switch (event.type) {
    case 'GitPlacesChanged':
      return { ...before, placesOf: event.data.operationId };
    case 'GitSyncCompleted': {
      const { endedAt } = event.data;
      return { ...before, running: false, state: 'success', endedAt, updatedAt: endedAt };
    }
    case 'GitSyncFailed': {
      const { endedAt, state, error } = event.data;
      return { ...before, running: false, state, error, endedAt, updatedAt: endedAt };
    }
    default:
      return before;
  }
};

const handles = [
  'GitSyncStarted',
  'GitPlacesChanged',
  'GitRevisionPartRecorded',
  'GitRevisionRecorded',
  'GitSyncCompleted',
  'GitSyncFailed',
] as const;

/** `content.git_sync`: one document per space. */
export const gitSyncProjection: Projection = documentPerStream<GitSyncEvent, GitSyncDocument>({
  name: 'git-sync',
  aggregate: gitSyncAggregate.name,
  collection: gitSyncCollection,
  handles,
  evolve: (document, event) => stateAfter(document, event as unknown as GitSyncEvent),
});

/** `content.git_places`: one document per space. */
export const gitPlacesProjection: Projection = documentPerStream<GitSyncEvent, GitPlacesDocument>({
  name: 'git-places',
  aggregate: gitSyncAggregate.name,
  collection: gitPlacesCollection,
  handles: ['GitPlacesChanged'],
  keeps: false,
  evolve(document, recorded) {
    const event = recorded as unknown as GitSyncEvent;
    if (event.type !== 'GitPlacesChanged') return document;
    const places = new Map(Object.entries(document?.places ?? {}));
    for (const id of event.data.gone) places.delete(id);
    for (const { id, ...place } of event.data.put) places.set(id, place);
    return { operationId: event.data.operationId, places: Object.fromEntries(places) };
  },
});

/** `content.git_commits`: one document per revision that a sync ended with; its request is in the state of the stream. */
export const gitCommitsProjection: Projection = documentsPerEvent<GitSyncEvent>({
  name: 'git-commits',
  aggregates: [gitSyncAggregate.name],
  collections: [gitCommitsCollection],
  handles: ['GitSyncCompleted'],
  toDocuments(recorded) {
    const event = recorded as unknown as GitSyncEvent;
    if (event.type !== 'GitSyncCompleted') return [];
    const { spaceId, revisionId, commit, direction, ref, url } = event.data;
    const document: GitCommitDocument = {
      ...commit,
      spaceId,
      exported: direction === 'export',
      ref,
      ...(url === undefined ? {} : { url }),
    };
    return [{ collection: gitCommitsCollection, id: revisionId, document }];
  },
});

/** How this aggregate makes revisions. */
export const gitRevisionSource: RevisionSource = {
  aggregate: gitSyncAggregate.name,
  handles: ['GitRevisionPartRecorded', 'GitRevisionRecorded'],
  read(recorded: Recorded<DomainEvent>) {
    const event = recorded as unknown as GitSyncEvent;
    if (event.type === 'GitRevisionPartRecorded') {
      const { spaceId, revisionId, part, changes, documents } = event.data;
      return { spaceId, revisionId, part, changes, documents };
    }
    if (event.type !== 'GitRevisionRecorded') return undefined;
    const { spaceId, organizationId, revisionId, parents, parts, changes, documents, createdBy, createdAt } =
      event.data;
    const info = { id: revisionId, spaceId, organizationId, type: 'edits', parents, createdBy, createdAt } as const;
    return { spaceId, changes, documents, parts, info };
  },
};
