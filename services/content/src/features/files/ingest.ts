import { type BlobStore, BlobTooLarge } from '@bindery/blob-store';
import { limits } from '@bindery/contracts';
import { type GuardedFetch, isFetchFailed } from '@bindery/guarded-fetch';
import { invalid, Problem } from '@bindery/service-kit';
import type { FileNode } from '../revisions/index.ts';
import { checkContent, headBytes } from './content-check.ts';

/** One file that a caller brings (gaps-filled section 7, `insert_files`). */
export type FileInput =
  | { readonly base64: string; readonly name: string; readonly contentType: string }
  | { readonly url: string; readonly name: string; readonly contentType?: string };

/** Who brings files, and to where. */
export interface Uploader {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly principal: { readonly id: string };
}

/** Files that members uploaded before they use them. */
export interface Uploads {
  /** The key in the address of an upload; undefined for any other address. */
  keyIn(baseUrl: string, address: string): string | undefined;
  /** undefined when the uploader has none such. */
  find(
    key: string,
    organizationId: string,
    principal: { readonly id: string },
  ): Promise<{ readonly contentType: string; open(): Promise<AsyncIterable<Uint8Array>> } | undefined>;
}

/** Takes files in: fetches or decodes them, checks what they are, stores their bytes durably. */
export interface FileIngest {
  /**
   * All files or none are answered; bytes of a refused batch may stay behind in the blob store, where nothing names them.
   * @param files at most `limits.file.maxPerChange` a call; they are taken one after the other, so that one is in memory
   * @param options.field names the files in messages: `changes[2].files` gives `changes[2].files[0].name`
   * @returns nodes in the order given, ready for a `file_put`
   * @throws Problem invalid (what is wrong with which file), too-large, unavailable
   */
  ingest(
    files: readonly FileInput[],
    options: {
      readonly id: () => string;
      readonly signal: AbortSignal;
      readonly field?: string;
      /** Whose uploads may be named by their addresses; nobody's without it. */
      readonly uploader?: Uploader;
    },
  ): Promise<readonly FileNode[]>;
}

export interface FileIngestDeps {
  readonly blobs: BlobStore;
  readonly fetch: GuardedFetch;
  readonly uploads?: Uploads;
}

/** Largest file that is fetched, in bytes. */
const maxFetchedBytes = 20 * 1024 * 1024;
/** Files being fetched at a time in one process; more wait their turn for a while. */
const maxConcurrent = 4;
const maxWaiting = 64;

const base64Text = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;
const controlCharacters = /[\p{Cc}\u2028\u2029]/u;

const checkedName = (name: string, field: string): string => {
  if (controlCharacters.test(name) || !name.isWellFormed())
    throw invalid('file.invalid_name', `${field}.name: control characters are not allowed.`);
  const trimmed = name.trim();
  if (trimmed === '' || trimmed === '.' || trimmed === '..')
    throw invalid('file.invalid_name', `${field}.name: is not a file name.`);
  return trimmed;
};

const decoded = (base64: string, field: string): Uint8Array => {
  if (!base64Text.test(base64)) throw invalid('file.invalid_base64', `${field}.base64: is not base64.`);
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > limits.file.base64Bytes)
    throw invalid('file.too_large', `${field}.base64: more than ${limits.file.base64Bytes} bytes.`);
  if (bytes.length === 0) throw invalid('file.empty', `${field}.base64: the file is empty.`);
  return bytes;
};

/** Lets `limit` callers in at a time, in order of arrival. */
const turnstile = (limit: number) => {
  let inside = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (inside >= limit) {
      if (waiting.length >= maxWaiting)
        throw new Problem('unavailable', 'file.busy', 'Too many files are being fetched.', { retryAfter: 5 });
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else inside += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else inside -= 1;
    }
  };
};

async function* concat(head: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Reads up to `enough` bytes, and leaves the rest to be read. */
const peek = async (source: AsyncIterator<Uint8Array>, enough: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size < enough) {
    const next = await source.next();
    if (next.done) break;
    chunks.push(next.value);
    size += next.value.length;
  }
  return Buffer.concat(chunks);
};

export const createFileIngest = ({ blobs, fetch, uploads }: FileIngestDeps): FileIngest => {
  const inTurn = turnstile(maxConcurrent);

  /** An upload of the caller, or what the address answers with. */
  const opened = async (url: string, field: string, signal: AbortSignal, uploader: Uploader | undefined) => {
    const key = uploader && uploads?.keyIn(uploader.baseUrl, url);
    if (uploader === undefined || key === undefined) return fetch(url, { maxBytes: maxFetchedBytes, signal });
    const upload = await uploads?.find(key, uploader.organizationId, uploader.principal);
    if (upload === undefined) throw invalid('file.no_upload', `${field}.url: you have no such upload.`);
    return { contentType: upload.contentType, body: await upload.open() };
  };
  const fetched = async (
    file: Extract<FileInput, { url: string }>,
    field: string,
    signal: AbortSignal,
    uploader: Uploader | undefined,
  ) => {
    const answer = await opened(file.url, field, signal, uploader);
    const source = answer.body[Symbol.asyncIterator]();
    try {
      const head = await peek(source, headBytes);
      if (head.length === 0) throw invalid('file.empty', `${field}.url: the file is empty.`);
      const declared = file.contentType ?? answer.contentType;
      const facts = await checkContent({
        head,
        name: file.name,
        declared,
        strict: file.contentType !== undefined,
        field,
      });
      return { ...facts, ...(await blobs.put(concat(head, source), maxFetchedBytes)) };
    } finally {
      await source.return?.();
    }
  };
  const given = async (file: Extract<FileInput, { base64: string }>, field: string) => {
    const head = decoded(file.base64, field);
    const facts = await checkContent({ head, name: file.name, declared: file.contentType, strict: true, field });
    return { ...facts, ...(await blobs.put(head, limits.file.base64Bytes)) };
  };

  const one = async (
    file: FileInput,
    id: string,
    field: string,
    { signal, uploader }: { readonly signal: AbortSignal; readonly uploader?: Uploader | undefined },
  ): Promise<FileNode> => {
    const name = checkedName(file.name, field);
    try {
      const stored = await ('base64' in file
        ? given(file, field)
        : inTurn(() => fetched(file, field, signal, uploader)));
      const { contentType, dimensions, size, sha256 } = stored;
      return { id, name, contentType, size, sha256, ...(dimensions ? { dimensions } : {}) };
    } catch (error) {
      if (isFetchFailed(error))
        throw invalid(`file.fetch_${error.reason.replaceAll('-', '_')}`, `${field}.url: ${error.message}`);
      if (error instanceof BlobTooLarge)
        throw invalid('file.too_large', `${field}: more than ${error.maxBytes} bytes.`);
      throw error;
    }
  };

  return {
    async ingest(files, { id, signal, field = 'files', uploader }) {
      if (files.length > limits.file.maxPerChange)
        throw invalid('file.too_many', `${field}: at most ${limits.file.maxPerChange} files at a time.`);
      const nodes: FileNode[] = [];
      for (const [index, file] of files.entries())
        nodes.push(await one(file, id(), `${field}[${index}]`, { signal, uploader }));
      return nodes;
    },
  };
};
