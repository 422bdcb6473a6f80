import { ReadStoreUnavailable } from '../../port.ts';
import type { Commands } from './commands.ts';
import { chunkLength, newestOfEach, type Prepared } from './prepared.ts';

/** Commands of single writes that are under way at once; further writes gather and go together. */
const MAX_COMMANDS = 4;

interface Waiting {
  readonly write: Prepared;
  readonly resolve: (written: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Sends the writes of one collection: a lone one at once and alone, those of a crowd together, which costs the server one
 * journal entry instead of many. How many may wait is bounded by the connection.
 */
export class Writing {
  readonly #commands: Commands;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(commands: Commands) {
    this.#commands = commands;
  }

  /** One write; see {@link Commands.put}. */
  put(write: Prepared): Promise<boolean> {
    return new Promise<boolean>((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#next();
    });
  }

  /**
   * Writes of a batch. Their order matters only where a unique value goes from one document to another: what was refused
   * is tried again one by one.
   * @throws UniqueViolation, ReadStoreUnavailable
   */
  async putAll(writes: readonly Prepared[]): Promise<void> {
    for (let rest = newestOfEach(writes); rest.length > 0; ) {
      const chunk = rest.slice(0, chunkLength(rest));
      rest = rest.slice(chunk.length);
      const [only] = chunk;
      if (chunk.length === 1 && only !== undefined) {
        await this.#commands.put(only);
        continue;
      }
      const states = await this.#commands.putMany(chunk);
      for (const [index, write] of chunk.entries()) if (states[index] === 'refused') await this.#commands.put(write);
    }
  }

  #next(): void {
    while (this.#running < MAX_COMMANDS && this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, chunkLength(this.#waiting.slice(0, 1001).map(({ write }) => write)));
      this.#running++;
      void this.#send(group).finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }

  /** Settles every write of the group; never rejects. */
  async #send(group: readonly Waiting[]): Promise<void> {
    const states = group.length === 1 ? [] : await this.#together(group);
    await Promise.all(
      group.map(async ({ write, resolve, reject }, index) => {
        const state = states[index] ?? 'refused';
        if (state instanceof ReadStoreUnavailable) return reject(state);
        if (state !== 'refused') return resolve(state === 'written');
        try {
          resolve(await this.#commands.put(write));
        } catch (error) {
          reject(error);
        }
      }),
    );
  }

  /** Nothing when the command as a whole was at fault: then each write finds out alone whether it is the culprit. */
  async #together(
    group: readonly Waiting[],
  ): Promise<readonly ('written' | 'older' | 'refused' | ReadStoreUnavailable)[]> {
    try {
      return await this.#commands.putMany(group.map(({ write }) => write));
    } catch (error) {
      return error instanceof ReadStoreUnavailable ? group.map(() => error) : [];
    }
  }
}
