import type { Clock } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { ContentOptions } from './content-options.ts';
import { createStaleMerges } from './features/change-requests/index.ts';
import { createSpacePurger } from './features/spaces/index.ts';
import { type Repeating, repeating } from './repeating.ts';

const defaultPurgeIntervalMs = 60_000;
const defaultSettleIntervalMs = 15_000;

/** What the service does by itself from time to time. Every replica does it: each piece is a command that changes nothing twice. */
export const createBackground = (
  deps: Omit<Parameters<typeof createStaleMerges>[0], 'clock' | 'logger'> &
    Pick<Parameters<typeof createSpacePurger>[0], 'spaces'> & { readonly clock: Clock; readonly logger: Logger },
  options: Pick<ContentOptions, 'purgeIntervalMs' | 'settleIntervalMs'>,
): Repeating => {
  const { spaces, spaceRepository, clock, logger } = deps;
  const purger = createSpacePurger({ spaces, repository: spaceRepository, clock, logger });
  const staleMerges = createStaleMerges(deps);
  const works = [
    repeating({
      name: 'purging deleted spaces',
      everyMs: options.purgeIntervalMs ?? defaultPurgeIntervalMs,
      work: (signal) => purger.run(signal),
      logger,
    }),
    repeating({
      name: 'settling merges that were begun and left',
      everyMs: options.settleIntervalMs ?? defaultSettleIntervalMs,
      work: (signal) => staleMerges.run(signal),
      logger,
    }),
  ];
  return {
    start() {
      for (const work of works) work.start();
    },
    async stop() {
      for (const work of works.toReversed()) await work.stop();
    },
  };
};
