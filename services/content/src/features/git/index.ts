import type { gitOperations } from '@bindery/contracts';
import { commandMetadata, type Projection } from '@bindery/event-sourcing';
import { type HandlersFor, notFound, type OperationContext, Problem } from '@bindery/service-kit';
import { repeating } from '../../repeating.ts';
import { defaultTimeoutMs, type GitDeps } from './deps.ts';
import type { GitDirection } from './events.ts';
import { createGitMetadata, type GitMetadata } from './metadata.ts';
import { presentGitSync } from './present.ts';
import { gitCommitsProjection, gitPlacesProjection, gitSyncProjection, openGitSync } from './read-model.ts';
import { readRequest } from './request.ts';
import { createGitRunner } from './runner.ts';

export { gitSyncAggregate } from './aggregate.ts';
export type { GitDeps } from './deps.ts';
export type { GitSyncEvent } from './events.ts';
export type { GitMetadata } from './metadata.ts';
export { gitPublicEvents } from './public-events.ts';
export { gitRevisionSource } from './read-model.ts';

/** Read models of git sync. */
export const gitProjections: readonly Projection[] = [gitSyncProjection, gitPlacesProjection, gitCommitsProjection];

/** Import from and export to git repositories, with the work behind it. */
export interface GitFeature {
  readonly handlers: HandlersFor<typeof gitOperations>;
  /** What spaces and revisions show of it. */
  readonly metadata: GitMetadata;
  start(): void;
  stop(): Promise<void>;
}

const defaultSweepMs = 15_000;

export const createGitFeature = (deps: GitDeps): GitFeature => {
  const runner = createGitRunner(deps);
  const documents = openGitSync(deps.live);
  const sweeping = repeating({
    name: 'taking up git operations that were left',
    everyMs: deps.sweepMs ?? defaultSweepMs,
    work: (signal) => runner.sweep(signal),
    logger: deps.logger,
  });

  const start = async (
    context: OperationContext,
    direction: GitDirection,
    {
      params,
      body,
    }: { readonly params: { readonly spaceId: string }; readonly body: Parameters<typeof readRequest>[2] },
  ): Promise<{ readonly status: 204 }> => {
    const { space } = await deps.access.space(context, params.spaceId, 'triggerGitSync');
    const { operation, credentials } = readRequest(context, direction, body, deps.timeoutMs ?? defaultTimeoutMs);
    if (!runner.hasRoom())
      throw new Problem('unavailable', 'git.too_many', 'Too many git operations are waiting.', { retryAfter: 30 });
    const { id: spaceId, organizationId } = space;
    const handled = await deps.repository.handle(
      spaceId,
      { type: 'StartGitSync', data: { spaceId, organizationId, ...operation } },
      commandMetadata(context, organizationId),
    );
    // Nothing is recorded for one that is older than the last that was applied.
    if (handled.events.some(({ type }) => type === 'GitSyncStarted')) {
      await deps.counts.changed(spaceId);
      runner.begin({ spaceId, organizationId, operation, ...(credentials === undefined ? {} : { credentials }) });
    }
    return { status: 204 };
  };

  return {
    metadata: createGitMetadata(deps.live),
    handlers: {
      importGitRepository: (context, request) => start(context, 'import', request),
      exportToGitRepository: (context, request) => start(context, 'export', request),
      async getSpaceGitInfo(context, { params }) {
        const { space } = await deps.access.space(context, params.spaceId, 'view');
        const stored = await documents.get(space.id);
        if (stored === undefined) throw notFound('git sync');
        return { status: 200, body: presentGitSync(stored.document) };
      },
    },
    start: () => sweeping.start(),
    async stop() {
      await sweeping.stop();
      await runner.stop();
    },
  };
};
