import { type Clock, isProblem } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import { mergeTimeoutMs } from './decider.ts';
import type { MergeDeps } from './deps.ts';
import { createMerging } from './merging.ts';
import type { ChangeRequestsCollection } from './read-model/lookup.ts';
import { createSerial } from './serial.ts';
import { serviceMetadata } from './service-metadata.ts';

/** Finishes or gives up merges that were begun and left. */
export interface StaleMerges {
  /** Looks at everything that is overdue now; returns how many merges it settled. Safe in several processes at once. */
  run(signal: AbortSignal): Promise<number>;
}

/** Change requests looked at in one query. */
const batch = 100;

export const createStaleMerges = (
  deps: MergeDeps & {
    readonly changeRequests: ChangeRequestsCollection;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): StaleMerges => {
  const { changeRequests, clock, logger } = deps;
  const merging = createMerging(deps, createSerial());
  return {
    async run(signal) {
      const now = clock.now();
      const before = new Date(now.getTime() - mergeTimeoutMs).toISOString();
      let settled = 0;
      let after: readonly string[] | undefined;
      while (!signal.aborted) {
        const overdue = await changeRequests.query({
          where: { mergingSince: { lte: before } },
          limit: batch,
          ...(after ? { after } : {}),
        });
        for (const { id, document } of overdue) {
          if (signal.aborted) break;
          const cause = `settle:${id}:${document.mergingSince}`;
          try {
            await merging.settled(id, serviceMetadata(cause, document.organizationId, now));
            settled += 1;
          } catch (error) {
            // One that cannot be settled now does not keep the others.
            if (!isProblem(error)) throw error;
            logger.warn('a merge could not be settled', { changeRequestId: id, reason: error.code });
          }
        }
        const last = overdue.at(-1);
        if (last === undefined || overdue.length < batch) break;
        after = [last.id];
      }
      return settled;
    },
  };
};
