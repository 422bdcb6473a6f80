import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobStoreUnavailable } from '../../errors.ts';
import { BlobTooLarge } from '../../port.ts';

/** Received bytes, to be read in pieces and disposed of. */
export interface Spooled {
  readonly sha256: string;
  readonly size: number;
  /** Bytes from `start`, at most `length`. */
  read(start: number, length: number): Promise<Uint8Array>;
  dispose(): Promise<void>;
}

/** Bytes in hand. @throws BlobTooLarge */
export const spoolBytes = (bytes: Uint8Array, maxBytes: number): Spooled => {
  if (bytes.byteLength > maxBytes) throw new BlobTooLarge(maxBytes);
  return {
    sha256: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.byteLength,
    read: async (start, length) => bytes.subarray(start, start + length),
    dispose: async () => undefined,
  };
};

/**
 * Gathers a stream and its hash: in memory up to `memoryBytes`, then in a file of `folder` that has no name, so that
 * nothing stays of a process that is killed. Needed because the key is the hash, which is known at the end.
 * @throws BlobTooLarge as soon as the limit is passed; the source is then closed
 */
export const spoolStream = async (
  source: AsyncIterable<Uint8Array>,
  options: { readonly maxBytes: number; readonly memoryBytes: number; readonly folder: string },
): Promise<Spooled> => {
  const { maxBytes, memoryBytes, folder } = options;
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(memoryBytes, maxBytes)));
  let filled = 0;
  let written = 0;
  let file: FileHandle | undefined;
  const flush = async (): Promise<void> => {
    try {
      file ??= await namelessFile(folder);
      for (let from = 0; from < filled; ) {
        const { bytesWritten } = await file.write(buffer, from, filled - from, written);
        from += bytesWritten;
        written += bytesWritten;
      }
      filled = 0;
    } catch (cause) {
      throw new BlobStoreUnavailable('no room for an upload', { cause });
    }
  };
  try {
    for await (const chunk of source) {
      if (written + filled + chunk.byteLength > maxBytes) throw new BlobTooLarge(maxBytes);
      hash.update(chunk);
      // Copied: sources may use their buffer again.
      for (let taken = 0; taken < chunk.byteLength; ) {
        if (filled === buffer.byteLength) await flush();
        const part = chunk.subarray(taken, taken + buffer.byteLength - filled);
        buffer.set(part, filled);
        filled += part.byteLength;
        taken += part.byteLength;
      }
    }
    if (file !== undefined) await flush();
  } catch (error) {
    await file?.close();
    throw error;
  }
  const kept = file;
  return {
    sha256: hash.digest('hex'),
    size: written + filled,
    read: async (start, length) =>
      kept === undefined ? buffer.subarray(start, Math.min(start + length, filled)) : readFrom(kept, start, length),
    dispose: async () => kept?.close(),
  };
};

const namelessFile = async (folder: string): Promise<FileHandle> => {
  const path = join(folder, `bindery-upload-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await rm(path);
  return file;
};

const readFrom = async (file: FileHandle, start: number, length: number): Promise<Uint8Array> => {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
};
