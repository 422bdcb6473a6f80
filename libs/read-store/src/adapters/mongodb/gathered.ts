/** Ids that one command asks for. */
const MAX_IDS = 250;

interface Asker<Row> {
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads by id that begin in one turn of the event loop, as one command: under load each command of the driver costs more
 * than the document it brings. Nobody is given what was read before it asked.
 */
export class GatheredReads<Row extends { readonly _id: string }> {
  readonly #find: (ids: readonly string[]) => Promise<readonly Row[]>;
  #asked = new Map<string, Asker<Row>[]>();

  /** @param find rows of at most 250 ids, in any order; those that are not there are left out */
  constructor(find: (ids: readonly string[]) => Promise<readonly Row[]>) {
    this.#find = find;
  }

  /** The row with this id, undefined when there is none. Fails as the command does that asks for it. */
  get(id: string): Promise<Row | undefined> {
    return new Promise((resolve, reject) => {
      const asker = { resolve, reject };
      const others = this.#asked.get(id);
      if (others !== undefined) {
        others.push(asker);
        return;
      }
      if (this.#asked.size === 0) setImmediate(() => this.#send());
      this.#asked.set(id, [asker]);
      if (this.#asked.size === MAX_IDS) this.#send();
    });
  }

  #send(): void {
    const asked = this.#asked;
    if (asked.size === 0) return;
    this.#asked = new Map();
    this.#find([...asked.keys()]).then(
      (rows) => {
        for (const row of rows) {
          for (const { resolve } of asked.get(row._id) ?? []) resolve(row);
          asked.delete(row._id);
        }
        for (const { resolve } of [...asked.values()].flat()) resolve(undefined);
      },
      (error: unknown) => {
        for (const { reject } of [...asked.values()].flat()) reject(error);
      },
    );
  }
}
