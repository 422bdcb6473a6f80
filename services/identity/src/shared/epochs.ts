import { randomUUID } from 'node:crypto';
import type { TolerantCache } from './tolerant-cache.ts';

/**
 * Words that stand for the present state of something. What was derived from the state is remembered together with the
 * word that was current *before* it was read, and counts only while that word still is. Whoever changes the state replaces
 * the word after the change can be read and before it is acknowledged: then a reading that raced with the change is void,
 * and everything asked for after the acknowledgement is read anew. A word that the cache lost comes back as another one,
 * which voids too.
 */
export interface Epochs {
  /** The current word; undefined when there is none, then nothing that is remembered counts. */
  peek(of: string): Promise<string | undefined>;
  /** The current word, made when there is none. */
  current(of: string): Promise<string>;
  /** The key in the cache under which the word is. */
  keyOf(of: string): string;
  /** Voids what was derived. */
  replace(of: string): Promise<void>;
}

const day = 86_400_000;

/** @param prefix of the keys in the cache */
export const createEpochs = (cache: TolerantCache, prefix: string): Epochs => {
  const renew = async (of: string): Promise<string> => {
    const word = randomUUID();
    await cache.replace(prefix + of, word, { ttlMs: day });
    return word;
  };
  const peek = (of: string): Promise<string | undefined> => cache.get<string>(prefix + of);
  return {
    peek,
    keyOf: (of) => prefix + of,
    current: async (of) => (await peek(of)) ?? renew(of),
    async replace(of) {
      await renew(of);
    },
  };
};
