import { serviceMetadata } from '../change-requests/index.ts';
import type { StorageDeps } from './deps.ts';
import type { StorageUploads } from './read-model.ts';

const batch = 100;

/** Deletes uploads that did not come in time, and those that were kept long enough. Safe in several processes at once. */
export const purgeUploads = async (
  { repository, blobs, clock }: StorageDeps,
  uploads: StorageUploads,
  signal: AbortSignal,
): Promise<void> => {
  const now = clock.now();
  let after: readonly string[] | undefined;
  while (!signal.aborted) {
    const due = await uploads.query({
      where: { purgeAt: { lte: now.toISOString() } },
      orderBy: [{ field: 'purgeAt', direction: 'asc' }],
      limit: batch,
      ...(after ? { after } : {}),
    });
    for (const { id: key, document } of due) {
      if (signal.aborted) return;
      const { state } = await repository.load(key);
      // Bytes first: stopped in between, they are deleted again, and that is nothing.
      if (state.status === 'stored' && state.keptUntil <= now.toISOString()) await blobs.delete(state.bytes.blob);
      const metadata = serviceMetadata(`storage:${key}:purge`, document.organizationId, now);
      await repository.handle(key, { type: 'PurgeUpload', data: { purgedAt: now.toISOString() } }, metadata);
    }
    const last = due.at(-1);
    if (last === undefined || due.length < batch) return;
    after = [last.document.purgeAt ?? '', last.id];
  }
};
