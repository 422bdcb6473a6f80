import { assertNever, type Decider } from '@bindery/event-sourcing';
import { conflict, notFound } from '@bindery/service-kit';
import type {
  OpenAPISpecEvent,
  ProcessError,
  ProcessErrorCode,
  ReadDocument,
  SpecSource,
  SpecVisibility,
} from './events.ts';
import { evolve, initialState, type SpecState } from './state.ts';

/** Gives a slug a specification; one that is there already is refused, or gets the source. */
export interface PutOpenAPISpec {
  readonly type: 'PutOpenAPISpec';
  readonly data: {
    readonly organizationId: string;
    readonly slug: string;
    /** Of the specification, if it is made now. */
    readonly specId: string;
    readonly source: SpecSource;
    readonly by: string;
    readonly at: string;
  };
  readonly existing: 'refuse' | 'update';
}
export interface ChangeOpenAPISpecVisibility {
  readonly type: 'ChangeOpenAPISpecVisibility';
  readonly data: { readonly visibility: SpecVisibility; readonly changedBy: string; readonly changedAt: string };
}
export interface DeleteOpenAPISpec {
  readonly type: 'DeleteOpenAPISpec';
  readonly data: { readonly deletedBy: string; readonly deletedAt: string };
}
/** Begins work on the source, unless nothing is to be done or somebody else does it. */
export interface StartOpenAPISpecProcessing {
  readonly type: 'StartOpenAPISpecProcessing';
  readonly data: { readonly runId: string; readonly startedAt: string; readonly until: string };
}
/** Tells what came of the work. Nothing happens when the source is another one meanwhile. */
export interface FinishOpenAPISpecProcessing {
  readonly type: 'FinishOpenAPISpecProcessing';
  readonly data: {
    readonly runId: string;
    readonly processedAt: string;
    readonly dueAt?: string;
    readonly outcome:
      | { readonly kind: 'read'; readonly document: ReadDocument }
      | { readonly kind: 'failed'; readonly code: ProcessErrorCode; readonly errors: readonly ProcessError[] };
  };
  readonly maxVersions: number;
}
export type OpenAPISpecCommand =
  | PutOpenAPISpec
  | ChangeOpenAPISpecVisibility
  | DeleteOpenAPISpec
  | StartOpenAPISpecProcessing
  | FinishOpenAPISpecProcessing;

type Events = readonly OpenAPISpecEvent[];
type Active = Extract<SpecState, { status: 'active' }>;

const decide = (command: OpenAPISpecCommand, state: SpecState): Events => {
  switch (command.type) {
    case 'PutOpenAPISpec':
      return put(command, state);
    case 'ChangeOpenAPISpecVisibility': {
      if (state.status === 'none') throw notFound('OpenAPI specification');
      if (state.visibility === command.data.visibility) return [];
      return [{ type: 'OpenAPISpecVisibilityChanged', data: { ...idsOf(state), ...command.data } }];
    }
    case 'DeleteOpenAPISpec':
      if (state.status === 'none') return [];
      return [{ type: 'OpenAPISpecDeleted', data: { ...idsOf(state), versions: state.versions, ...command.data } }];
    case 'StartOpenAPISpecProcessing':
      if (state.status === 'none' || !isDue(state, command.data.startedAt)) return [];
      return [{ type: 'OpenAPISpecProcessingStarted', data: { ...idsOf(state), ...command.data } }];
    case 'FinishOpenAPISpecProcessing':
      return finish(command, state);
    default:
      return assertNever(command);
  }
};

const idsOf = ({ organizationId, specId, slug }: Active) => ({ organizationId, specId, slug });

const isSame = (a: SpecSource, b: SpecSource): boolean =>
  a.kind === 'url' ? b.kind === 'url' && a.url === b.url : b.kind === 'text' && a.sha256 === b.sha256;

const put = ({ data, existing }: PutOpenAPISpec, state: SpecState): Events => {
  const { source, by, at, organizationId, slug, specId } = data;
  if (state.status === 'none') {
    const ids = { organizationId, specId, slug };
    return [{ type: 'OpenAPISpecCreated', data: { ...ids, source, createdBy: by, createdAt: at } }];
  }
  if (existing === 'refuse')
    throw conflict('openapi_spec.slug_taken', 'slug: another OpenAPI specification has it already.');
  if (!isSame(state.source, source))
    return [{ type: 'OpenAPISpecSourceChanged', data: { ...idsOf(state), source, changedBy: by, changedAt: at } }];
  const { processing } = state;
  // What stands behind an address may have changed a moment ago, also while it is being fetched; a text has not.
  const pointless = source.kind === 'text' && !(processing.state === 'complete' && processing.failed);
  if (processing.state === 'pending' || pointless) return [];
  return [{ type: 'OpenAPISpecRefreshRequested', data: { ...idsOf(state), requestedBy: by, requestedAt: at } }];
};

/** Whether work is to be done that nobody does. */
const isDue = ({ processing }: Active, now: string): boolean => {
  switch (processing.state) {
    case 'pending':
      return true;
    case 'progress':
      return processing.until <= now;
    case 'complete':
      return processing.dueAt !== undefined && processing.dueAt <= now;
    default:
      return assertNever(processing);
  }
};

const finish = ({ data, maxVersions }: FinishOpenAPISpecProcessing, state: SpecState): Events => {
  if (state.status === 'none') return [];
  const { processing, versions, source } = state;
  const { outcome, ...run } = data;
  if (processing.state !== 'progress' || processing.runId !== run.runId) return [];
  const ids = idsOf(state);
  if (outcome.kind === 'failed') {
    const { code, errors } = outcome;
    return [{ type: 'OpenAPISpecProcessingFailed', data: { ...ids, ...run, code, errors } }];
  }
  const done: OpenAPISpecEvent = { type: 'OpenAPISpecProcessed', data: { ...ids, ...run } };
  if (outcome.document.contentHash === state.contentHash) return [done];
  const [oldest] = versions;
  const dropped = oldest === undefined || versions.length < maxVersions ? {} : { dropped: oldest };
  const version = { ...outcome.document, ...dropped, number: state.number + 1, source, createdAt: run.processedAt };
  return [{ type: 'OpenAPISpecVersionAdded', data: { ...ids, ...version } }, done];
};

/** The rules of one slug of an organization: at most one specification has it, and one run at a time works on that. */
export const openapiSpecDecider: Decider<SpecState, OpenAPISpecCommand, OpenAPISpecEvent> = {
  initialState,
  decide,
  evolve,
};
