/** Ids that one command asks for. */
const MAX_IDS = 250;
/**
 * Longest that ids wait for the command under way to end, in ms: a slow answer holds nobody up. A command costs as much as
 * twenty documents, so under load it is worth the wait: those that were answered together come back together.
 */
const MAX_WAIT_MS = 3;

interface Asker<Row> {
  readonly resolve: (row: Row | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads by id that begin in one turn of the event loop, or while others are under way, as one command: under load a command
 * costs more than the document that it brings. Nobody is given what was read before it asked.
 */
export class GatheredReads<Row extends { readonly _id: string }> {
  readonly #waitMs: number;
  readonly #find: (ids: readonly string[]) => Promise<readonly Row[]>;
  #asked = new Map<string, Asker<Row>[]>();
  #underWay = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param find rows of at most 250 ids, in any order; those that are not there are left out
   * @param waitMs longest wait for the command under way
   */
  constructor(find: (ids: readonly string[]) => Promise<readonly Row[]>, waitMs = MAX_WAIT_MS) {
    this.#find = find;
    this.#waitMs = waitMs;
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
    if (this.#underWay === 0) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), this.#waitMs);
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
