/** Content-addressed file bytes (DESIGN section 4). Keys are the lower-case hex SHA-256 of the content. */
export interface BlobStore {
  /**
   * Stores bytes, whole or not at all (durable before it resolves); storing the same content again is free.
   * @param source bytes or a stream of chunks
   * @param maxBytes more than this and nothing is stored
   * @throws BlobTooLarge
   */
  put(
    source: Uint8Array | AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<{ readonly sha256: string; readonly size: number }>;
  /** Size in bytes, or undefined when absent. */
  stat(sha256: string): Promise<{ readonly size: number } | undefined>;
  /** The bytes as a stream; `range` is inclusive. undefined when absent. */
  get(
    sha256: string,
    range?: { readonly start: number; readonly end: number },
  ): Promise<{ readonly size: number; readonly body: AsyncIterable<Uint8Array> } | undefined>;
  delete(sha256: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The source had more bytes than allowed. */
export class BlobTooLarge extends Error {
  readonly code = 'blob_store.too_large';
  readonly maxBytes: number;
  constructor(maxBytes: number) {
    super(`the file is larger than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** The key is not a SHA-256 in lower-case hex. */
export class InvalidBlobKey extends Error {
  readonly code = 'blob_store.invalid_key';
}
