/** Ids that one command asks for. */
const MAX_IDS = 250;
/** Commands under way beyond which further ids wait for one of them to end. */
const MAX_AT_ONCE = 2;
/** ... but no longer than this, in ms: a slow answer holds nobody up. */
const MAX_WAIT_MS = 5;

interface Asker<Row> {
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads by id that begin in one turn of the event loop, or while others are under way, as one command: under load a command
 * costs more than the document that it brings. Nobody is given what was read before it asked.
 */
export class GatheredReads<Row extends { readonly _id: string }> {
  readonly #find: (ids: readonly string[]) => Promise<readonly Row[]>;
  #asked = new Map<string, Asker<Row>[]>();
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;

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
      if (this.#asked.size === 0) setImmediate(() => this.#sendOrWait());
      this.#asked.set(id, [asker]);
      if (this.#asked.size === MAX_IDS) this.#send();
    });
  }

  #sendOrWait(): void {
    if (this.#underWay < MAX_AT_ONCE) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), MAX_WAIT_MS);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const asked = this.#asked;
    if (asked.size === 0) return;
    this.#asked = new Map();
    this.#underWay += 1;
    this.#find([...asked.keys()])
      .then(
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
      )
      .finally(() => {
        this.#underWay -= 1;
        this.#send();
      });
  }
}
