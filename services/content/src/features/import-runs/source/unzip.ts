import { setImmediate as nextTurn } from 'node:timers/promises';
import { Unzip, UnzipInflate } from 'fflate';

/** An archive is not what it says, or holds too much. `message` is for whoever uploaded it. */
export class BadArchive extends Error {}

export interface UnzipLimits {
  readonly entries: number;
  /** Bytes of one file, unpacked. Larger ones are passed over. */
  readonly entryBytes: number;
  /** Bytes of all files that are looked at, unpacked. */
  readonly totalBytes: number;
}

/** So much is handed to the unpacker at a time: what comes out of it is at most about a thousand times as much. */
const pieceBytes = 4 * 1024;
const maxPath = 512;

/** A path in an archive from its root; undefined for folders and for what is none. */
export const pathInArchive = (name: string): string | undefined => {
  const parts = name
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  if (name.endsWith('/') || name.length > maxPath || parts.length === 0 || parts.includes('..')) return undefined;
  // What systems put into archives beside the files.
  if (parts[0] === '__MACOSX' || parts.at(-1)?.startsWith('._') === true) return undefined;
  return /\p{Cc}/u.test(name) || !name.isWellFormed() ? undefined : parts.join('/');
};

/**
 * Unpacks the files of an archive that are wanted, one after the other. What comes out is counted while it comes, whatever
 * the archive says of itself, and what is not wanted is not unpacked.
 * @param wanted by path
 * @param take gets the bytes; undefined when there are more than a file may have
 * @throws BadArchive
 */
export const unzip = async (
  archive: Uint8Array,
  limits: UnzipLimits,
  wanted: (path: string) => boolean,
  take: (path: string, bytes: Uint8Array<ArrayBuffer> | undefined) => void,
  signal: AbortSignal,
): Promise<void> => {
  let [entries, total, open] = [0, 0, 0];
  let failure: Error | undefined;
  const fail = (message: string): void => {
    failure ??= new BadArchive(message);
  };
  const reader = new Unzip((file) => {
    entries += 1;
    if (entries > limits.entries) fail(`the archive has more than ${limits.entries} files`);
    const path = pathInArchive(file.name);
    if (failure !== undefined || path === undefined || !wanted(path)) return;
    const chunks: Uint8Array[] = [];
    let size = 0;
    open += 1;
    file.ondata = (error, chunk, final) => {
      if (error) fail(`${path} in the archive is damaged`);
      if (failure !== undefined) return;
      size += chunk.length;
      total += chunk.length;
      if (total > limits.totalBytes) {
        fail(`the archive has more than ${limits.totalBytes} bytes when it is unpacked`);
        return;
      }
      if (size <= limits.entryBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (!final) return;
      open -= 1;
      take(path, size > limits.entryBytes ? undefined : new Uint8Array(Buffer.concat(chunks)));
    };
    try {
      file.start();
    } catch (error) {
      fail(`${path} in the archive is packed in a way that is not known (${String(error)})`);
    }
  });
  reader.register(UnzipInflate);
  for (let at = 0, turn = 0; at < archive.length; at += pieceBytes, turn += 1) {
    signal.throwIfAborted();
    try {
      reader.push(archive.subarray(at, at + pieceBytes), at + pieceBytes >= archive.length);
    } catch {
      fail('the archive is damaged');
    }
    if (failure !== undefined) throw failure;
    if (turn % 16 === 0) await nextTurn();
  }
  if (entries === 0 || open > 0) throw new BadArchive('the archive is empty or cut off');
};
