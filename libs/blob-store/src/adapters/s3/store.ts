import { BlobStoreUnavailable } from '../../errors.ts';
import { checkBlobKey, checkRange } from '../../key.ts';
import type { BlobStore } from '../../port.ts';
import { verified } from '../verified.ts';
import { translated } from './failures.ts';
import { readObject } from './read.ts';
import type { S3Requests } from './requests.ts';
import { type Spooled, spoolBytes, spoolStream } from './spool.ts';
import { sizeOf, uploadAtOnce, uploadInParts } from './upload.ts';

/** How an {@link S3BlobStore} works. */
export interface S3StoreOptions {
  readonly prefix: string;
  readonly partBytes: number;
  readonly spoolFolder: string;
  readonly verify: boolean;
  readonly attempts: number;
}

/** Blobs as objects; see `openS3BlobStore`. */
export class S3BlobStore implements BlobStore {
  readonly #requests: S3Requests;
  readonly #options: S3StoreOptions;
  #closed = false;

  constructor(requests: S3Requests, options: S3StoreOptions) {
    this.#requests = requests;
    this.#options = options;
  }

  async put(
    source: Uint8Array | AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<{ readonly sha256: string; readonly size: number }> {
    this.#assertOpen();
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) throw new RangeError('maxBytes is an integer from 0');
    const { partBytes: memoryBytes, spoolFolder: folder } = this.#options;
    const spooled =
      source instanceof Uint8Array
        ? spoolBytes(source, maxBytes)
        : await spoolStream(source, { maxBytes, memoryBytes, folder });
    try {
      await this.#asked(() => this.#store(spooled));
      return { sha256: spooled.sha256, size: spooled.size };
    } finally {
      await spooled.dispose();
    }
  }

  async stat(sha256: string): Promise<{ readonly size: number } | undefined> {
    this.#assertOpen();
    const key = this.#keyOf(sha256);
    const size = await this.#asked(() => sizeOf(this.#requests, key));
    return size === undefined ? undefined : { size };
  }

  async get(
    sha256: string,
    range?: { readonly start: number; readonly end: number },
  ): Promise<{ readonly size: number; readonly body: AsyncIterable<Uint8Array> } | undefined> {
    const found = await this.stat(sha256);
    if (found === undefined) return undefined;
    const { size } = found;
    if (range !== undefined) checkRange(size, range);
    const object = { key: this.#keyOf(sha256), sha256, attempts: this.#options.attempts };
    const body = readObject(this.#requests, object, range?.start ?? 0, range?.end ?? size - 1);
    return { size, body: this.#options.verify && range === undefined ? verified(body, sha256) : body };
  }

  /** The store itself does not say whether there was anything. */
  async delete(sha256: string): Promise<boolean> {
    const found = await this.stat(sha256);
    if (found === undefined) return false;
    await this.#asked(() => this.#requests.send({ method: 'DELETE', key: this.#keyOf(sha256) }));
    return true;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#requests.close();
  }

  /** What is there already, by name and size, is not sent again. */
  async #store(spooled: Spooled): Promise<void> {
    const { partBytes } = this.#options;
    const key = this.#keyOf(spooled.sha256);
    if ((await sizeOf(this.#requests, key)) === spooled.size) return;
    if (spooled.size <= partBytes) await uploadAtOnce(this.#requests, key, spooled);
    else await uploadInParts(this.#requests, key, spooled, partBytes);
  }

  #keyOf(sha256: string): string {
    checkBlobKey(sha256);
    return `${this.#options.prefix}${sha256}`;
  }

  async #asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw translated(error);
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw new BlobStoreUnavailable('the blob store is closed');
  }
}
