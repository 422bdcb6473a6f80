import type { Stored } from '../../port.ts';

/** Longer documents are read anew each time, in characters of JSON: they would take the memory of many short ones. */
const maxLength = 2048;
const maxEntries = 2000;

const freeze = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
};

/**
 * Documents of one table that were read lately, for a file that only this process writes. Readers share them, so they are
 * frozen. Every write forgets its document before the transaction ends; reading and writing happen in one thread, so
 * nobody sees an old one.
 */
export class HotDocuments {
  readonly #entries = new Map<string, Stored<unknown> | null>();

  /** @returns null when it is known that there is no such document, undefined when nothing is known */
  get(id: string): Stored<unknown> | null | undefined {
    return this.#entries.get(id);
  }

  /** @param length characters of the document's JSON */
  keep(stored: Stored<unknown>, length: number): void {
    if (length > maxLength) return;
    freeze(stored);
    this.#set(stored.id, stored);
  }

  /** Remembers that there is none: lists ask for things that most of their items do not have. */
  keepAbsent(id: string): void {
    this.#set(id, null);
  }

  #set(id: string, entry: Stored<unknown> | null): void {
    if (this.#entries.size >= maxEntries) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(id, entry);
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  clear(): void {
    this.#entries.clear();
  }
}
