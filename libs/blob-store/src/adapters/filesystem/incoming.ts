import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobTooLarge } from '../../port.ts';

/** Received bytes in a file that nobody reads yet. */
export interface Received {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
}

/** Bytes of one write. */
const WRITE_BYTES = 256 * 1024;

/**
 * Writes a source to a new file of `folder`, hashing on the way, and makes it durable. On any failure nothing stays.
 * @throws BlobTooLarge as soon as the limit is passed; the source is then closed
 */
export const receive = async (
  folder: string,
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Received> => {
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx', 0o600);
  try {
    const hash = createHash('sha256');
    // One buffer for all writes: sources give small pieces, and may use their own buffer again.
    const buffer = Buffer.allocUnsafe(Math.min(WRITE_BYTES, Math.max(1, maxBytes)));
    let filled = 0;
    let size = 0;
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new BlobTooLarge(maxBytes);
      hash.update(chunk);
      for (let taken = 0; taken < chunk.byteLength; ) {
        const part = chunk.subarray(taken, taken + buffer.byteLength - filled);
        buffer.set(part, filled);
        filled += part.byteLength;
        taken += part.byteLength;
        if (filled < buffer.byteLength) continue;
        await writeAll(file, buffer);
        filled = 0;
      }
    }
    await writeAll(file, buffer.subarray(0, filled));
    await file.sync();
    await file.close();
    return { path, sha256: hash.digest('hex'), size };
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
};

/** Removes files that a killed process left behind; those younger than `minAgeMs` may belong to a living one. */
export const removeLeftovers = async (folder: string, minAgeMs: number, now: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await stat(path).catch(ignoreMissing);
    if (found !== undefined && now - found.mtimeMs >= minAgeMs) await rm(path, { force: true });
  }
};

/** Makes the names in a folder durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** For `catch`: undefined when there is no such file, else the error again. */
export const ignoreMissing = (error: unknown): undefined => {
  if (isMissing(error)) return undefined;
  throw error;
};

const isMissing = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  (error.code === 'ENOENT' || error.code === 'ENOTDIR');

const writeAll = async (file: Awaited<ReturnType<typeof open>>, bytes: Uint8Array): Promise<void> => {
  for (let written = 0; written < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, written);
    written += bytesWritten;
  }
};
