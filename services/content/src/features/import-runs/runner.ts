import { createHtmlReader } from '@bindery/html-reader';
import { createIdSource, isProblem } from '@bindery/service-kit';
import { serviceMetadata } from '../change-requests/index.ts';
import type { ImportRunCommand } from './decider.ts';
import type { ImportRunDeps } from './deps.ts';
import { createLanding } from './land.ts';
import { type ImportRunDocument, openImportRuns } from './read-model.ts';
import { readUploads } from './source/files.ts';
import { fetchPictures, unpackPictures } from './source/pictures.ts';
import { createStaging } from './source/staging.ts';
import { crawlWebsite } from './source/website.ts';
import type { KnownImportRun } from './state.ts';
import { ImportFailed, type WorkContext } from './work-context.ts';

/** Carries out imports: those of this process, and those that a process left. */
export interface ImportRunner {
  /** Begins an import that was just recorded, or leaves it to a later look when there is no room; returns at once. */
  begin(importRunId: string): void;
  /** Stops working on an import that was cancelled. */
  cancelled(importRunId: string): void;
  /** Goes on with, and clears away after, what no process works on. Safe in several processes at once. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Leaves what is running: whoever sweeps next goes on with it. */
  stop(): Promise<void>;
}

/** At a time in one process. */
const maxRunning = 2;
const lockMs = 30_000;
const batch = 100;

const tooLong = 'The import took too long and was given up.';
const unexpected =
  'Something went wrong that is not the fault of what is imported; the operator can find it in the log.';
const isOver = (error: unknown): boolean =>
  isProblem(error) && (error.code === 'import.ended' || error.code === 'import.taken');

export const createImportRunner = (deps: ImportRunDeps): ImportRunner => {
  const { repository, cache, clock, logger } = deps;
  const documents = openImportRuns(deps.live);
  const staging = createStaging(deps.blobs);
  const reader = createHtmlReader(deps.reading);
  const land = createLanding({ ...deps, staging });
  const stopping = new AbortController();
  const inHand = new Map<string, { readonly cancel: AbortController; readonly done: Promise<void> }>();

  const load = async (id: string): Promise<KnownImportRun> => {
    const { state } = await repository.load(id);
    if (state.status === 'none') throw new Error(`there is no import ${id}`);
    return state;
  };
  const handle = async (id: string, command: ImportRunCommand): Promise<KnownImportRun> => {
    const { request } = await load(id);
    const cause = `import:${id}:${command.type}:${crypto.randomUUID()}`;
    const { state } = await repository.handle(id, command, serviceMetadata(cause, request.organizationId, clock.now()));
    if (state.status === 'none') throw new Error(`there is no import ${id}`);
    return state;
  };

  const read = async (work: WorkContext): Promise<void> => {
    const { source, organizationId, requestedBy: id } = work.state().request;
    const find = (key: string) => deps.uploads.find(key, organizationId, { id });
    const pictures = { files: deps.files, blobs: deps.blobs, staging, find };
    if (source.type === 'website') {
      await crawlWebsite({ fetch: deps.fetch, reader, staging }, work, source.url);
      await fetchPictures(pictures, work);
    } else {
      await readUploads({ reader, staging, find }, work, source.files);
      await unpackPictures(pictures, work, source.files);
    }
  };

  const carryOut = async (id: string, signal: AbortSignal): Promise<void> => {
    const worker = crypto.randomUUID();
    const at = () => clock.now().toISOString();
    let state = await handle(id, { type: 'TakeImportRun', data: { worker, takenAt: at() } });
    const ids = createIdSource();
    const work: WorkContext = {
      state: () => state,
      signal,
      newId: () => ids.id(),
      async progress(done) {
        signal.throwIfAborted();
        state = await handle(id, { type: 'ProgressImportRun', data: { worker, ...done, progressedAt: at() } });
      },
    };
    if (!state.landing) {
      await read(work);
      state = await handle(id, { type: 'LandImportRun', data: { worker, landingAt: at() } });
    }
    const data = await land(state, signal);
    await handle(id, { type: 'CompleteImportRun', data });
  };

  const fail = async (id: string, code: string, reason: string): Promise<void> => {
    await handle(id, { type: 'FailImportRun', data: { code, reason, failedAt: clock.now().toISOString() } });
  };

  /** Deletes what was staged, once it is of no use. */
  const clear = async (id: string): Promise<void> => {
    const state = await load(id);
    if (state.status === 'pending' || state.status === 'in-progress' || state.cleared) return;
    for (const { blob } of state.settled.values()) if (blob !== undefined) await staging.delete(blob);
    await handle(id, { type: 'ClearImportRun', data: { clearedAt: clock.now().toISOString() } });
  };

  const attempt = async (id: string, signal: AbortSignal, deadline: AbortSignal): Promise<void> => {
    try {
      await carryOut(id, signal);
    } catch (error) {
      if (isOver(error)) return;
      if (deadline.aborted) await fail(id, 'timeout', tooLong);
      else if (signal.aborted) throw error;
      else if (error instanceof ImportFailed) await fail(id, error.code, error.message);
      else if (isProblem(error) && error.kind === 'unavailable') throw error;
      else {
        const isFetch =
          error instanceof Error && 'reason' in error && 'code' in error && error.code === 'guarded_fetch.failed';
        if (!isFetch) logger.error('an import broke', { importRunId: id, reason: String(error) });
        await fail(id, isFetch ? 'fetch' : 'internal', isFetch ? error.message : unexpected);
      }
    }
  };

  /** Works on an import under a lock, when there is one to be had. */
  const run = async (id: string, cancel: AbortController): Promise<void> => {
    const key = `content:import-run:${id}`;
    const holder = crypto.randomUUID();
    if ((await cache.acquire(key, holder, lockMs)) === undefined) return;
    const renewing = setInterval(() => {
      // What is lost with the lock is refused by the stream; this only ends it sooner.
      cache.renew(key, holder, lockMs).then(
        (kept) => kept || cancel.abort(new Error('the lock was lost')),
        (error: unknown) => logger.warn('the lock of an import could not be renewed', { reason: String(error) }),
      );
      repository.load(id).then(
        ({ state }) => state.status === 'cancelled' && cancel.abort(new Error('it was cancelled')),
        (error: unknown) => logger.warn('an import could not be looked at', { reason: String(error) }),
      );
    }, lockMs / 6);
    renewing.unref();
    try {
      const { request } = await load(id);
      const left = Date.parse(request.timeoutAt) - clock.now().getTime();
      const deadline = AbortSignal.timeout(Math.max(1, left));
      await attempt(id, AbortSignal.any([stopping.signal, cancel.signal, deadline]), deadline);
      await clear(id);
    } finally {
      clearInterval(renewing);
      await cache.release(key, holder);
    }
  };

  const begin = (id: string): void => {
    if (inHand.has(id) || stopping.signal.aborted || inHand.size >= maxRunning) return;
    const cancel = new AbortController();
    const done = run(id, cancel)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted && !cancel.signal.aborted)
          logger.warn('work on an import broke off; it is taken up again', { importRunId: id, reason: String(error) });
      })
      .finally(() => inHand.delete(id));
    inHand.set(id, { cancel, done });
  };

  return {
    begin,
    cancelled: (id) => inHand.get(id)?.cancel.abort(new Error('it was cancelled')),
    async sweep(signal) {
      let after: readonly string[] | undefined;
      while (!signal.aborted && inHand.size < maxRunning) {
        const found: readonly { readonly id: string; readonly document: ImportRunDocument }[] = await documents.query({
          where: { due: true },
          limit: batch,
          ...(after ? { after } : {}),
        });
        for (const { id } of found) begin(id);
        const last = found.at(-1);
        if (last === undefined || found.length < batch) return;
        after = [last.id];
      }
    },
    async stop() {
      stopping.abort(new Error('the service stops'));
      await Promise.all([...inHand.values()].map(({ done }) => done));
      await reader.close();
    },
  };
};
