import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BlobStoreUnavailable } from '../errors.ts';
import type { BlobStore } from '../port.ts';
import { removeLeftovers, syncFolder } from './filesystem/incoming.ts';
import { FilesystemBlobStore } from './filesystem/store.ts';

/** Options of {@link openFilesystemBlobStore}. */
export interface FilesystemBlobStoreOptions {
  /** Folder of the store; created when absent. */
  readonly folder: string;
  /** Hash whole blobs again while they are read; the body then ends in BlobDamaged when they have changed. Default true. */
  readonly verify?: boolean;
  /** Unfinished files older than this are removed at opening, in ms, default one hour. */
  readonly leftoverAgeMs?: number;
}

/**
 * Blobs as files: `<folder>/blobs/ab/<sha256>`, written under `<folder>/incoming` first and renamed when they and
 * their hash are complete and durable. Several processes may use one folder.
 * @throws BlobStoreUnavailable when the folder cannot be used
 */
export const openFilesystemBlobStore = async (options: FilesystemBlobStoreOptions): Promise<BlobStore> => {
  const incoming = join(options.folder, 'incoming');
  const blobs = join(options.folder, 'blobs');
  try {
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    await createShards(options.folder, blobs);
    await removeLeftovers(incoming, options.leftoverAgeMs ?? 3_600_000, Date.now());
  } catch (cause) {
    throw new BlobStoreUnavailable(`the folder ${options.folder} cannot be used`, { cause });
  }
  return new FilesystemBlobStore(blobs, incoming, options.verify ?? true);
};

/** All at once and durable, so that a put has to make durable no more than its own name. */
const createShards = async (folder: string, blobs: string): Promise<void> => {
  await mkdir(blobs, { recursive: true, mode: 0o700 });
  const present = new Set(await readdir(blobs));
  const missing = Array.from({ length: 256 }, (_, index) => index.toString(16).padStart(2, '0')).filter(
    (name) => !present.has(name),
  );
  if (missing.length === 0) return;
  for (const name of missing) await mkdir(join(blobs, name), { recursive: true, mode: 0o700 });
  await syncFolder(blobs);
  await syncFolder(folder);
};
