import { posix } from 'node:path';
import type { BlobStore } from '@bindery/blob-store';
import { limits } from '@bindery/contracts';
import { assetsFolder, fileFailed, GitSyncFailed, type Repository, type RepositoryConfig } from '@bindery/git-sync';
import { isProblem } from '@bindery/service-kit';
import { checkContent, headBytes } from '../files/index.ts';
import type { FileNode } from '../revisions/index.ts';
import type { MakeId } from './identity.ts';
import type { KnownPlaces } from './places.ts';

/** Largest file that is taken along, in bytes. */
const maxFileBytes = 20 * 1024 * 1024;
const maxFiles = 10_000;

/** Types of text formats, which no signature tells. */
const contentTypes: Readonly<Record<string, string>> = {
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.xml': 'application/xml',
};

/** The files of a repository that its pages use, as they are met; those of the assets folder always. */
export interface TakenFiles {
  /** Id of the file at a path, which is then taken along; undefined where there is none. */
  of(path: string): string | undefined;
  taken(): ReadonlyMap<string, string>;
}

/**
 * @param files object ids by path from the root of the space
 * @param isPage paths that are pages or reusable contents
 */
export const createTakenFiles = (input: {
  readonly files: ReadonlyMap<string, string>;
  readonly config: RepositoryConfig;
  readonly places: KnownPlaces;
  readonly makeId: MakeId;
  readonly isPage: (path: string) => boolean;
}): TakenFiles => {
  const { files, config, places, makeId, isPage } = input;
  const idByPath = new Map<string, string>();
  /** Files that are no longer where they were, by what is in them. */
  const moved = new Map<string, string[]>();
  for (const { kind, id, path, oid } of places.values()) {
    if (kind !== 'file') continue;
    if (files.has(path)) idByPath.set(path, id);
    else moved.set(oid, [...(moved.get(oid) ?? []), id]);
  }
  const taken = new Map<string, string>();
  const of = (path: string): string | undefined => {
    const known = taken.get(path);
    if (known !== undefined) return known;
    const oid = files.get(path);
    if (oid === undefined || isPage(path) || path === config.summary) return undefined;
    if (taken.size >= maxFiles) throw new GitSyncFailed('too-many', `The pages use more than ${maxFiles} files.`);
    const id = idByPath.get(path) ?? moved.get(oid)?.shift() ?? makeId('file', path);
    taken.set(path, id);
    return id;
  };
  for (const path of [...files.keys()].sort()) if (path.startsWith(`${assetsFolder}/`)) of(path);
  return { of, taken: () => taken };
};

/**
 * Takes a file in: looks at what it is, keeps its bytes once.
 * @throws GitSyncFailed naming the file
 */
export const ingestFile = async (
  { repository, blobs }: { readonly repository: Repository; readonly blobs: BlobStore },
  file: { readonly id: string; readonly path: string; readonly oid: string },
): Promise<FileNode> => {
  const { id, path, oid } = file;
  const bytes = await repository.read(oid);
  if (bytes.byteLength > maxFileBytes)
    throw fileFailed(path, `has ${bytes.byteLength} bytes, of ${maxFileBytes} that a file may have`);
  const name = posix.basename(path).slice(-limits.file.name);
  const declared = contentTypes[posix.extname(path).toLowerCase()] ?? '';
  try {
    const facts = await checkContent({
      head: bytes.subarray(0, headBytes),
      name,
      declared,
      strict: false,
      field: 'file',
    });
    const { sha256, size } = await blobs.put(bytes, maxFileBytes);
    const { contentType, dimensions } = facts;
    return { id, name, contentType, size, sha256, ...(dimensions === undefined ? {} : { dimensions }) };
  } catch (error) {
    if (isProblem(error) && error.kind === 'invalid') throw fileFailed(path, error.message);
    throw error;
  }
};
