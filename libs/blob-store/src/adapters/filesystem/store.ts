import { createHash } from 'node:crypto';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BlobStoreUnavailable } from '../../errors.ts';
import { checkBlobKey, checkRange } from '../../key.ts';
import { type BlobStore, BlobTooLarge } from '../../port.ts';
import { verified } from '../verified.ts';
import { readBody } from './body.ts';
import { ignoreMissing, receive, syncFolder } from './incoming.ts';

/** Failures of the file system itself, not of what the caller gave. */
const UNAVAILABLE = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EACCES',
  'EPERM',
  'EIO',
  'EMFILE',
  'ENFILE',
  'ENOTDIR',
  'ENOENT',
]);

/** Blobs in the shard folders of `folder`; see `openFilesystemBlobStore`. */
export class FilesystemBlobStore implements BlobStore {
  readonly #folder: string;
  readonly #incoming: string;
  readonly #verify: boolean;
  #closed = false;

  constructor(folder: string, incoming: string, verify: boolean) {
    this.#folder = folder;
    this.#incoming = incoming;
    this.#verify = verify;
  }

  async put(
    source: Uint8Array | AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<{ readonly sha256: string; readonly size: number }> {
    this.#assertOpen();
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 0) throw new RangeError('maxBytes is an integer from 0');
    return translated(
      source instanceof Uint8Array ? this.#putBytes(source, maxBytes) : this.#putStream(source, maxBytes),
    );
  }

  async stat(sha256: string): Promise<{ readonly size: number } | undefined> {
    this.#assertOpen();
    const found = await translated(stat(this.#pathOf(sha256)).catch(ignoreMissing));
    return found === undefined ? undefined : { size: found.size };
  }

  /** The file is opened when the body is first read, so that a body nobody reads holds nothing. */
  async get(
    sha256: string,
    range?: { readonly start: number; readonly end: number },
  ): Promise<{ readonly size: number; readonly body: AsyncIterable<Uint8Array> } | undefined> {
    const found = await this.stat(sha256);
    if (found === undefined) return undefined;
    const { size } = found;
    if (range !== undefined) checkRange(size, range);
    const body = readBody(this.#pathOf(sha256), range?.start ?? 0, range?.end ?? size - 1, sha256);
    return { size, body: this.#verify && range === undefined ? verified(body, sha256) : body };
  }

  async delete(sha256: string): Promise<boolean> {
    this.#assertOpen();
    const path = this.#pathOf(sha256);
    const removal = rm(path).then(
      () => true,
      (error: unknown) => ignoreMissing(error) ?? false,
    );
    const removed = await translated(removal);
    if (removed) await translated(syncFolder(dirname(path)));
    return removed;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Bytes in hand are hashed first: when they are there, nothing is written. */
  async #putBytes(bytes: Uint8Array, maxBytes: number): Promise<{ readonly sha256: string; readonly size: number }> {
    if (bytes.byteLength > maxBytes) throw new BlobTooLarge(maxBytes);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const path = this.#pathOf(sha256);
    const found = await stat(path).catch(ignoreMissing);
    if (found?.size !== bytes.byteLength) return this.#putStream([bytes], maxBytes);
    // It may be the unfinished work of another put.
    await syncFolder(dirname(path));
    return { sha256, size: bytes.byteLength };
  }

  async #putStream(
    source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    maxBytes: number,
  ): Promise<{ readonly sha256: string; readonly size: number }> {
    const received = await receive(this.#incoming, source, maxBytes);
    const path = this.#pathOf(received.sha256);
    try {
      // Replacing equal content is harmless to its readers, and repairs it if it was damaged.
      await rename(received.path, path);
    } catch (error) {
      await rm(received.path, { force: true });
      throw error;
    }
    await syncFolder(dirname(path));
    return { sha256: received.sha256, size: received.size };
  }

  #pathOf(sha256: string): string {
    checkBlobKey(sha256);
    return join(this.#folder, sha256.slice(0, 2), sha256);
  }

  #assertOpen(): void {
    if (this.#closed) throw new BlobStoreUnavailable('the blob store is closed');
  }
}

const translated = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work;
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && UNAVAILABLE.has(String(error.code)))
      throw new BlobStoreUnavailable(`the blob store cannot be used now (${String(error.code)})`, { cause: error });
    throw error;
  }
};
