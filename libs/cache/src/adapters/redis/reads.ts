import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { isOneByOne } from './failures.ts';

/** Keys that one command asks for. */
const MAX_KEYS = 500;

interface Batch {
  /** Each key once, in the order of the values. */
  readonly keys: string[];
  readonly positions: Map<string, number>;
  readonly values: Promise<readonly (string | null)[]>;
}

/**
 * Reads that begin in one turn of the event loop as one `MGET`, each key once: a command, with its timers and its place in
 * a pipeline, costs more than the value that it brings. Where that is refused, keys are
 * read one by one.
 */
export class Reads {
  readonly #connection: Connection;
  #next: Batch | undefined;
  #oneByOne = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The text of a key; null: there is none. @throws CacheUnavailable */
  async text(key: string): Promise<string | null> {
    const batch = this.#batch();
    const known = batch.positions.get(key);
    const position = known ?? batch.keys.push(key) - 1;
    if (known === undefined) batch.positions.set(key, position);
    return (await batch.values)[position] ?? null;
  }

  #batch(): Batch {
    if (this.#next === undefined || this.#next.keys.length === MAX_KEYS) {
      const keys: string[] = [];
      this.#next = { keys, positions: new Map(), values: this.#read(keys) };
    }
    return this.#next;
  }

  /** @param keys may still become more in this turn */
  async #read(keys: readonly string[]): Promise<readonly (string | null)[]> {
    await nextTurn();
    if (this.#next?.keys === keys) this.#next = undefined;
    return this.#connection.command(async (client) => {
      if (!this.#oneByOne) {
        try {
          return await client.mget([...keys]);
        } catch (error) {
          if (!isOneByOne(error)) throw error;
          this.#oneByOne = true;
        }
      }
      return Promise.all(keys.map((key) => client.get(key)));
    });
  }
}
