import type { ContentImportRun, importRunOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import { repeating } from '../../repeating.ts';
import type { ImportRunDeps } from './deps.ts';
import { openImportRuns, primary } from './read-model.ts';
import { cancelImportRun, getImportRun, listImportRuns, newestImports } from './routes/read.ts';
import { startImportRun } from './routes/start.ts';
import { createImportRunner } from './runner.ts';

export { importRunAggregate } from './aggregate.ts';
export type { ImportRunDeps } from './deps.ts';
export type { ImportRunEvent } from './events.ts';
export { importRunPublicEvents } from './public-events.ts';
export { importRunProjections } from './read-model.ts';

/** Imports of websites and files, with the work behind them. */
export interface ImportRunFeature {
  readonly handlers: HandlersFor<typeof importRunOperations>;
  /** The newest imports into the primary content of a space. */
  ofSpace(baseUrl: string, spaceId: string): Promise<ContentImportRun[]>;
  /** Whether anything was imported into the primary content of a space. */
  anyInto(spaceId: string): Promise<boolean>;
  /** The newest imports into a change request. */
  ofChangeRequest(baseUrl: string, spaceId: string, changeRequestId: string): Promise<ContentImportRun[]>;
  start(): void;
  stop(): Promise<void>;
}

const defaultSweepMs = 10_000;

export const createImportRunFeature = (deps: ImportRunDeps): ImportRunFeature => {
  const runner = createImportRunner(deps);
  const routes = { ...deps, runner, runs: openImportRuns(deps.live) };
  const newest = newestImports(routes);
  const sweeping = repeating({
    name: 'taking up imports that were left',
    everyMs: deps.sweepMs ?? defaultSweepMs,
    work: (signal) => runner.sweep(signal),
    logger: deps.logger,
  });
  return {
    handlers: {
      startImportRun: startImportRun(routes),
      getImportRun: getImportRun(routes),
      listImportRuns: listImportRuns(routes),
      cancelImportRun: cancelImportRun(routes),
    },
    ofSpace: (baseUrl, spaceId) => newest(baseUrl, spaceId, primary),
    anyInto: async (spaceId) => (await newest('', spaceId, primary)).length > 0,
    ofChangeRequest: newest,
    start: () => sweeping.start(),
    async stop() {
      await sweeping.stop();
      await runner.stop();
    },
  };
};
