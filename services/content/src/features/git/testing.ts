import type { GitServer } from '@bindery/git-sync/testing';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import type { Principal } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { startContent, type TestContent, type TestContentOptions } from '../../testing.ts';

/** The content service with quick looks for operations that were left, and loopback open to it. */
export const startWithGit = (options: TestContentOptions = {}): Promise<TestContent> =>
  startContent({
    fetchGuard: createGuardedFetch({ allow: ['127.0.0.1'] }),
    ...options,
    git: { sweepMs: 50, graceMs: 0, ...options.git },
  });

/** What came of an operation. */
export interface SyncOutcome {
  readonly state: string;
  readonly direction: string;
  readonly error?: string;
}

/** Starts an import or export and waits for its end. */
export const sync = async (
  content: TestContent,
  as: Principal,
  operation: 'importGitRepository' | 'exportToGitRepository',
  spaceId: string,
  body: object,
): Promise<SyncOutcome> => {
  const request = {
    ref: 'refs/heads/main',
    ...(operation === 'exportToGitRepository' ? { commitMessage: 'Export' } : {}),
  };
  const started = await content.call(operation, as, { params: { spaceId }, body: { ...request, ...body } });
  if (started.status !== 204) throw new Error(`not started: ${JSON.stringify(started)}`);
  return ended(content, as, spaceId);
};

/** Waits for the end of the operation that runs. */
export const ended = async (content: TestContent, as: Principal, spaceId: string): Promise<SyncOutcome> => {
  let outcome: SyncOutcome | undefined;
  await until('the operation has ended', async () => {
    const info = await content.call('getSpaceGitInfo', as, { params: { spaceId } });
    outcome = info.body.operation;
    return outcome !== undefined && outcome.state !== 'running';
  });
  if (outcome === undefined) throw new Error('there is no operation');
  return outcome;
};

/** What tests ask of a space and a repository server. */
export const gitCalls = (content: TestContent, server: GitServer, as: Principal) => {
  const revisionOf = async (spaceId: string) =>
    (await content.call('getCurrentRevision', as, { params: { spaceId } })).body;
  return {
    importing: (spaceId: string, name: string, more: object = {}) =>
      sync(content, as, 'importGitRepository', spaceId, { url: server.url(name), ...more }),
    exporting: (spaceId: string, name: string, more: object = {}) =>
      sync(content, as, 'exportToGitRepository', spaceId, { url: server.url(name), ...more }),
    revisionOf,
    async markdownOf(spaceId: string, pageId: string): Promise<string> {
      const query = { format: 'markdown' };
      const { body } = await content.call('getPageById', as, { params: { spaceId, pageId }, query });
      return (body as { markdown?: string }).markdown ?? '';
    },
  };
};
