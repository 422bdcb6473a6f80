/** The bytes that were read are not those that were stored. Trying again is useless. */
export class BlobDamaged extends Error {
  readonly code = 'blob_store.damaged';
  readonly sha256: string;
  constructor(sha256: string) {
    super(`the stored bytes of ${sha256} have changed`);
    this.name = 'BlobDamaged';
    this.sha256 = sha256;
  }
}

/** The store cannot take or give bytes now: closed, full, or without permission. */
export class BlobStoreUnavailable extends Error {
  readonly code = 'blob_store.unavailable';
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BlobStoreUnavailable';
  }
}
