import { setTimeout as delay } from 'node:timers/promises';
import { seededRandom } from '../seeded-random.ts';
import { ChildScript } from './child-script.ts';

export interface CrashLoopOptions {
  readonly script: URL;
  readonly args: readonly string[];
  readonly rounds: number;
  /** The process is killed at a random instant up to so long after its first line, in ms. */
  readonly withinMs: number;
  /** Same seed, same instants (as far as the machine keeps time). Default: a new one each time. */
  readonly seed?: number;
  /** Looks at what is left after each kill; `lines` are the complete lines that the process had printed. */
  readonly afterCrash: (round: number, lines: readonly string[]) => Promise<void>;
}

/** Starts a script, lets it work, kills it with SIGKILL at a random instant, looks, and again. */
export const crashLoop = async (options: CrashLoopOptions): Promise<void> => {
  const { script, args, rounds, withinMs, seed = Date.now(), afterCrash } = options;
  const random = seededRandom(seed);
  for (let round = 0; round < rounds; round += 1) {
    const child = new ChildScript(script, args);
    try {
      await child.untilLines(1);
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
