import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../seeded-random.ts';
import { ChildScript } from './child-script.ts';

export interface CrashLoopOptions {
  readonly script: URL;
  readonly args: readonly string[];
  readonly rounds: number;
  /** Lines that the process prints before it may be killed, so that every round has something to lose. Default 1. */
  readonly leastLines?: number;
  /** Then it is killed at a random instant up to so long after, in ms. */
  readonly withinMs: number;
  /** Same seed, same instants (as far as the machine keeps time). Default: a new one each time. */
  readonly seed?: number;
  /** Looks at what is left after each kill; `lines` are the complete lines that the process had printed. */
  readonly afterCrash: (round: number, lines: readonly string[]) => Promise<void>;
}

/** Starts a script, lets it work, kills it with SIGKILL at a random instant, looks, and again. */
export const crashLoop = async (options: CrashLoopOptions): Promise<void> => {
  const { script, args, rounds, withinMs, leastLines = 1, seed = Date.now(), afterCrash } = options;
  const random = seededRandom(seed);
  for (let round = 0; round < rounds; round += 1) {
    const child = new ChildScript(script, args);
    try {
      await child.untilLines(leastLines);
      await delay(random.next() * withinMs);
    } finally {
      await child.kill();
    }
    try {
      await afterCrash(round, child.lines);
    } catch (error) {
      throw new Error(`round ${round} of seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }
};
