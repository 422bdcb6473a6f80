import { createHash } from 'node:crypto';
import { type CommandMetadata, deriveEventId } from '@bindery/event-sourcing';
import { type Clock, isProblem } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { SpaceRepository } from './deps.ts';
import type { SpacesCollection } from './list.ts';

/** Purges spaces whose time for being restored is over. */
export interface SpacePurger {
  /**
   * Purges everything that is due now; returns how many spaces that was. Safe to run at any time, twice, in several
   * processes: the stream decides, and read models and search follow its event.
   */
  run(signal: AbortSignal): Promise<number>;
}

/** Spaces looked at in one query. */
const batch = 100;

const metadataFor = (spaceId: string, organizationId: string, now: Date): CommandMetadata => {
  // The same ids in every process and on every attempt: at most one purge is written (PITFALLS 9).
  const cause = `purge:${spaceId}`;
  let count = 0;
  return {
    correlationId: createHash('sha256').update(cause).digest('hex').slice(0, 32),
    causationId: cause,
    actor: { kind: 'service', id: 'service:content' },
    organizationId,
    now,
    eventId: () => {
      count += 1;
      return deriveEventId(cause, `purge/${count}`);
    },
  };
};

export const createSpacePurger = (deps: {
  readonly spaces: SpacesCollection;
  readonly repository: SpaceRepository;
  readonly clock: Clock;
  readonly logger: Logger;
}): SpacePurger => {
  const { spaces, repository, clock, logger } = deps;

  const purge = async (spaceId: string, organizationId: string, now: Date): Promise<boolean> => {
    try {
      const command = { type: 'PurgeSpace', data: { purgedAt: now.toISOString() } } as const;
      const { events } = await repository.handle(spaceId, command, metadataFor(spaceId, organizationId, now));
      return events.length > 0;
    } catch (error) {
      // Restored or purged meanwhile: the read model was behind.
      if (isProblem(error) && (error.kind === 'conflict' || error.kind === 'not-found')) return false;
      throw error;
    }
  };

  return {
    async run(signal) {
      const now = clock.now();
      let purged = 0;
      let after: readonly string[] | undefined;
      while (!signal.aborted) {
        const due = await spaces.query({
          where: { deleted: true, purgeAfter: { lte: now.toISOString() } },
          limit: batch,
          ...(after ? { after } : {}),
        });
        for (const { id, document } of due) {
          if (signal.aborted) break;
          if (await purge(id, document.organizationId, now)) {
            purged += 1;
            logger.info('a deleted space was purged', { spaceId: id });
          }
        }
        const last = due.at(-1);
        if (last === undefined || due.length < batch) break;
        after = [last.id];
      }
      return purged;
    },
  };
};
