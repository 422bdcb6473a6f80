import type { AnyBulkWriteOperation, Collection as ServerCollection } from 'mongodb';
import { ReadStoreUnavailable, UniqueViolation } from '../../port.ts';
import type { Connection } from './connection.ts';
import { isDuplicateKey, refusedPositions, refusingIndex } from './errors.ts';
import type { Layout, StoredDocument } from './layout.ts';
import type { LiveLayout } from './live-layout.ts';
import type { Content, Prepared } from './prepared.ts';

/** Tries of one write against others of the same document. */
const MAX_TRIES = 20;
const ID_INDEX = '_id_';

/** The guarded writes of one collection as commands of the server. */
export class Commands {
  readonly #connection: Connection;
  readonly #live: LiveLayout;
  readonly collection: ServerCollection<StoredDocument>;

  constructor(connection: Connection, live: LiveLayout) {
    this.#connection = connection;
    this.#live = live;
    this.collection = connection.database.collection<StoredDocument>(live.current.name);
  }

  get #layout(): Layout {
    return this.#live.current;
  }

  /**
   * Writes unless what is stored is as new. An upsert whose filter finds nothing inserts; when it may not, the id is there
   * already, with a revision as new (PITFALLS 32), or with an older one that another writer has just inserted.
   * @returns whether it was written
   * @throws UniqueViolation, ReadStoreUnavailable
   */
  async put(write: Prepared): Promise<boolean> {
    const { maxTimeMS } = this.#connection;
    for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
      // Anew for each try: indexes may have been added meanwhile.
      const content = await write.content();
      try {
        await this.#connection.run(() =>
          this.collection.replaceOne(olderThan(write), content, { upsert: true, maxTimeMS }),
        );
        return true;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        if ((await this.#revisionOf(write.id)) >= write.revision) return false;
        await this.#throwIfRefused(error.message, write.id, content);
      }
    }
    throw new ReadStoreUnavailable(`${this.#layout.spec.name}: too many writers of one document`);
  }

  /**
   * Writes when exactly this revision is stored (-1: nothing).
   * @returns whether it was written
   * @throws UniqueViolation, ReadStoreUnavailable
   */
  async putExactly(write: Prepared, expected: number): Promise<boolean> {
    const content = await write.content();
    const { maxTimeMS } = this.#connection;
    try {
      if (expected === -1) {
        await this.#connection.run(() => this.collection.insertOne({ _id: write.id, ...content }, { maxTimeMS }));
        return true;
      }
      const result = await this.#connection.run(() =>
        this.collection.replaceOne({ _id: write.id, r: expected }, content, { maxTimeMS }),
      );
      return result.matchedCount === 1;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      if ((await this.#revisionOf(write.id)) !== expected) return false;
      await this.#throwIfRefused(error.message, write.id, content);
      // Another writer was first, and what it wrote was purged since.
      return false;
    }
  }

  /**
   * Many guarded writes as one command, none of which stops another.
   * @returns the state of each: written, `older` than what is stored, or `refused` by something else, which
   *   {@link put} finds out
   * @throws ReadStoreUnavailable
   */
  async putMany(writes: readonly Prepared[]): Promise<readonly ('written' | 'older' | 'refused')[]> {
    const operations = await Promise.all(
      writes.map(
        async (write): Promise<AnyBulkWriteOperation<StoredDocument>> => ({
          replaceOne: { filter: olderThan(write), replacement: await write.content(), upsert: true },
        }),
      ),
    );
    const { maxTimeMS } = this.#connection;
    const refused = await this.#connection.run(async () => {
      try {
        await this.collection.bulkWrite(operations, { ordered: false, maxTimeMS });
        return new Set<number>();
      } catch (error) {
        return new Set(refusedPositions(error));
      }
    });
    if (refused.size === 0) return writes.map(() => 'written');
    const stored = await this.#revisionsOf(writes.filter((_, index) => refused.has(index)));
    return writes.map(({ id, revision }, index) => {
      if (!refused.has(index)) return 'written';
      return (stored.get(id) ?? -1) >= revision ? 'older' : 'refused';
    });
  }

  async #revisionsOf(writes: readonly Prepared[]): Promise<ReadonlyMap<string, number>> {
    const ids = [...new Set(writes.map(({ id }) => id))];
    const { maxTimeMS } = this.#connection;
    const rows = await this.#connection.run(() =>
      this.collection.find({ _id: { $in: ids } }, { projection: { r: 1 }, maxTimeMS }).toArray(),
    );
    return new Map(rows.map(({ _id, r }) => [_id, r]));
  }

  /** -1: nothing is stored. */
  async #revisionOf(id: string): Promise<number> {
    const { maxTimeMS } = this.#connection;
    const row = await this.#connection.run(() =>
      this.collection.findOne({ _id: id }, { projection: { r: 1 }, maxTimeMS }),
    );
    return row?.r ?? -1;
  }

  /** @throws UniqueViolation unless the id alone was there already */
  async #throwIfRefused(message: string, id: string, content: Content): Promise<void> {
    const server = refusingIndex(message);
    if (server === ID_INDEX) return;
    const index = this.#layout.uniqueIndex(server ?? '') ?? (await this.#takenIndex(id, content));
    if (index !== undefined) throw new UniqueViolation(this.#layout.spec.name, index);
  }

  /** For servers that do not tell: the unique index whose key another document has. */
  async #takenIndex(id: string, { u = {} }: Content): Promise<string | undefined> {
    const { maxTimeMS } = this.#connection;
    for (const [key, value] of Object.entries(u)) {
      const taken = { [`u.${key}`]: typeof value === 'string' ? value : { $in: value }, _id: { $ne: id } };
      const row = await this.#connection.run(() =>
        this.collection.findOne(taken, { projection: { _id: 1 }, maxTimeMS }),
      );
      if (row !== null) return this.#layout.uniqueIndexOf(key);
    }
    return undefined;
  }
}

/** What is stored is older. Together with `upsert`, nothing is older too. */
const olderThan = ({ id, revision }: Prepared) => ({ _id: id, r: { $lt: revision } });
