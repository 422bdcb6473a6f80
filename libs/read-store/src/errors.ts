/**
 * A query names a field that no index of the collection serves. A mistake of the calling code, never of a user: the
 * query would have to look at every document.
 */
export class MissingIndex extends Error {
  readonly code = 'read_store.missing_index';
  readonly collection: string;
  readonly field: string;
  constructor(collection: string, field: string, need: string) {
    super(`${collection}: the query needs ${need}; add it to the indexes of the collection`);
    this.name = 'MissingIndex';
    this.collection = collection;
    this.field = field;
  }
}

/**
 * The data is there but cannot be used: damaged, written by a newer version, or not a read store at all. Trying again
 * is useless. A read store holds nothing that the events do not, so the remedy is to remove it and rebuild.
 */
export class ReadStoreUnusable extends Error {
  readonly code = 'read_store.unusable';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ReadStoreUnusable';
  }
}
