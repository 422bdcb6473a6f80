import { ignoreUnknown } from '@bindery/event-sourcing';
import type { OpenAPISpecEvent, SpecSource, SpecVisibility } from './events.ts';

/** How far the work on the source is. */
export type Processing =
  | { readonly state: 'pending' }
  | { readonly state: 'progress'; readonly runId: string; readonly until: string }
  | { readonly state: 'complete'; readonly failed: boolean; readonly dueAt?: string };

/** The specification that has a slug now, as far as decisions need it. */
export type SpecState =
  | { readonly status: 'none' }
  | {
      readonly status: 'active';
      readonly organizationId: string;
      readonly specId: string;
      readonly slug: string;
      readonly source: SpecSource;
      readonly visibility: SpecVisibility;
      readonly processing: Processing;
      /** Of the latest version. */
      readonly contentHash?: string;
      /** Number of the latest version; 0 when there is none. */
      readonly number: number;
      /** Oldest first. */
      readonly versions: readonly string[];
    };

export const initialState = (): SpecState => ({ status: 'none' });

/** Folds one event into the state. Never throws. */
export const evolve = (state: SpecState, event: OpenAPISpecEvent): SpecState => {
  if (event.type === 'OpenAPISpecCreated') {
    const { organizationId, specId, slug, source } = event.data;
    const processing = { state: 'pending' } as const;
    const ids = { organizationId, specId, slug };
    return { status: 'active', ...ids, source, visibility: 'private', processing, number: 0, versions: [] };
  }
  if (state.status === 'none') return state;
  switch (event.type) {
    case 'OpenAPISpecSourceChanged':
      return { ...state, source: event.data.source, processing: { state: 'pending' } };
    case 'OpenAPISpecRefreshRequested':
      return { ...state, processing: { state: 'pending' } };
    case 'OpenAPISpecVisibilityChanged':
      return { ...state, visibility: event.data.visibility };
    case 'OpenAPISpecProcessingStarted': {
      const { runId, until } = event.data;
      return { ...state, processing: { state: 'progress', runId, until } };
    }
    case 'OpenAPISpecVersionAdded': {
      const { versionId, number, contentHash, dropped } = event.data;
      return { ...state, number, contentHash, versions: [...state.versions.filter((id) => id !== dropped), versionId] };
    }
    case 'OpenAPISpecProcessed':
    case 'OpenAPISpecProcessingFailed': {
      const { dueAt } = event.data;
      const failed = event.type === 'OpenAPISpecProcessingFailed';
      return { ...state, processing: { state: 'complete', failed, ...(dueAt === undefined ? {} : { dueAt }) } };
    }
    case 'OpenAPISpecDeleted':
      return { status: 'none' };
    default:
      return ignoreUnknown(state, event);
  }
};
