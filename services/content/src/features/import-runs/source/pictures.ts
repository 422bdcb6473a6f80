import { posix } from 'node:path';
import { type BlobStore, BlobTooLarge } from '@bindery/blob-store';
import { limits } from '@bindery/contracts';
import { isProblem } from '@bindery/service-kit';
import { checkContent, type FileIngest, headBytes } from '../../files/index.ts';
import type { FileNode } from '../../revisions/index.ts';
import type { UploadedFile } from '../../storage/index.ts';
import type { SettledFile } from '../events.ts';
import type { WorkContext } from '../work-context.ts';
import { bytesOfUpload, folderOf, isArchive } from './files.ts';
import { localTarget } from './local.ts';
import type { Staging } from './staging.ts';
import { BadArchive, unzip } from './unzip.ts';

export interface PictureDeps {
  readonly files: FileIngest;
  readonly blobs: BlobStore;
  readonly staging: Staging;
  readonly find: (key: string) => Promise<UploadedFile | undefined>;
}

/** Pictures taken in before that is recorded. */
const batchSize = 20;
const maxFileBytes = 20 * 1024 * 1024;

const nameOf = (address: string): string => {
  const path = /^https?:/.test(address) ? new URL(address).pathname : address;
  const last = posix.basename(path);
  let name = last;
  try {
    name = decodeURIComponent(last);
  } catch {
    // An address that is not well-formed is a name all the same.
  }
  return (
    name
      .replace(/[\p{Cc}/\u2028\u2029]/gu, '')
      .toWellFormed()
      .slice(-limits.file.name)
      .trim() || 'picture'
  );
};

/** Every picture of the pages that were read, by its address; `resolve` gives the address that it is known by. */
const wantedPictures = async (
  { staging }: PictureDeps,
  work: WorkContext,
  resolve: (page: string, href: string) => string | undefined,
): Promise<readonly string[]> => {
  const wanted = new Set<string>();
  const { items, settled } = work.state();
  for (const { id, blob } of settled.values()) {
    if (blob === undefined) continue;
    work.signal.throwIfAborted();
    const address = items.get(id)?.address ?? '';
    for (const image of (await staging.get(blob)).images) {
      const known = resolve(address, image);
      if (known !== undefined) wanted.add(known);
    }
  }
  return [...wanted];
};

const left = (work: WorkContext): number => {
  const taken = [...work.state().files.values()].reduce((sum, { file }) => sum + (file?.size ?? 0), 0);
  return limits.importRun.totalBytes - taken;
};

/** Fetches the pictures of a website. What is not to be had is noted, and stays where it is. */
export const fetchPictures = async (deps: PictureDeps, work: WorkContext): Promise<void> => {
  const wanted = await wantedPictures(deps, work, (_page, href) => href);
  const over = wanted.length - limits.importRun.images;
  let batch: SettledFile[] = [];
  const record = async (): Promise<void> => {
    if (batch.length > 0) await work.progress({ files: batch });
    batch = [];
  };
  for (const [index, address] of wanted.entries()) {
    if (work.state().files.has(address)) continue;
    work.signal.throwIfAborted();
    if (index >= limits.importRun.images) {
      batch.push({ address, reason: `there are ${over} pictures too many` });
    } else if (left(work) <= 0) {
      batch.push({ address, reason: 'the pictures together are too large' });
    } else {
      try {
        const options = { id: () => work.newId(), signal: work.signal, field: 'picture' };
        const [file] = await deps.files.ingest([{ url: address, name: nameOf(address) }], options);
        if (file !== undefined)
          batch.push(
            file.contentType.startsWith('image/')
              ? { address, file }
              : { address, reason: `it is ${file.contentType}, not a picture` },
          );
      } catch (error) {
        if (!isProblem(error) || work.signal.aborted) throw error;
        batch.push({ address, reason: error.message.replace(/^picture\[0\](?:\.\w+)?: /, '') });
      }
    }
    if (batch.length >= batchSize) await record();
  }
  await record();
};

/** Keeps a file of an archive. @returns why not, when it cannot be */
const keep = async (blobs: BlobStore, id: string, path: string, bytes: Uint8Array): Promise<FileNode | string> => {
  const name = nameOf(path);
  try {
    const declared = /\.svg$/i.test(name) ? 'image/svg+xml' : '';
    const head = bytes.subarray(0, headBytes);
    const facts = await checkContent({ head, name, declared, strict: false, field: 'file' });
    const { sha256, size } = await blobs.put(bytes, maxFileBytes);
    const { contentType, dimensions } = facts;
    return { id, name, contentType, size, sha256, ...(dimensions === undefined ? {} : { dimensions }) };
  } catch (error) {
    if (isProblem(error) && error.kind === 'invalid') return error.message.replace(/^file: /, '');
    if (error instanceof BlobTooLarge) return 'it is too large';
    throw error;
  }
};

/** Takes the pictures and files that pages show out of the archives. */
export const unpackPictures = async (deps: PictureDeps, work: WorkContext, keys: readonly string[]): Promise<void> => {
  const { find, blobs } = deps;
  const all = await wantedPictures(deps, work, (page, href) => localTarget(page, href)?.path);
  const wanted = new Set(all.filter((path) => !work.state().files.has(path)).slice(0, limits.importRun.images));
  for (const key of wanted.size === 0 ? [] : keys) {
    const file = await find(key);
    if (file === undefined || !isArchive(file)) continue;
    const folder = folderOf(file, keys.length === 1);
    const entries: { readonly path: string; readonly bytes: Uint8Array | undefined }[] = [];
    const bounds = {
      entries: limits.importRun.entries,
      entryBytes: maxFileBytes,
      totalBytes: Math.max(0, left(work)),
    };
    try {
      const take = (path: string, bytes: Uint8Array | undefined) => entries.push({ path: `${folder}${path}`, bytes });
      await unzip(await bytesOfUpload(file), bounds, (path) => wanted.has(`${folder}${path}`), take, work.signal);
    } catch (error) {
      if (!(error instanceof BadArchive)) throw error;
      await work.progress({ files: [...wanted].map((address) => ({ address, reason: error.message })) });
      continue;
    }
    const files: SettledFile[] = [];
    for (const { path, bytes } of entries) {
      work.signal.throwIfAborted();
      const kept = bytes === undefined ? 'it is too large' : await keep(blobs, work.newId(), path, bytes);
      files.push(typeof kept === 'string' ? { address: path, reason: kept } : { address: path, file: kept });
    }
    if (files.length > 0) await work.progress({ files });
  }
  const missing = [...wanted].filter((path) => !work.state().files.has(path));
  if (missing.length > 0)
    await work.progress({ files: missing.map((address) => ({ address, reason: 'it is not in the archive' })) });
};
