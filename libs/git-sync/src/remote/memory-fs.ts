import { posix } from 'node:path';

/** An error as a file system gives it. */
const failure = (code: 'ENOENT' | 'EEXIST' | 'EISDIR' | 'ENOTDIR', path: string): Error =>
  Object.assign(new Error(`${code}: ${path}`), { code });

interface Stats {
  readonly type: 'file' | 'dir';
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  readonly uid: number;
  readonly gid: number;
  readonly dev: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

type Encoding = string | { readonly encoding?: string } | undefined;

const statsOf = (type: 'file' | 'dir', size: number): Stats => ({
  type,
  mode: type === 'file' ? 0o100644 : 0o40755,
  size,
  ino: 0,
  uid: 0,
  gid: 0,
  dev: 0,
  mtimeMs: 0,
  ctimeMs: 0,
  isFile: () => type === 'file',
  isDirectory: () => type === 'dir',
  isSymbolicLink: () => false,
});

/**
 * The part of `fs.promises` that the git library needs, in memory: a sync leaves nothing on disk, whatever ends it.
 * Bounded by what it lets in.
 * @param options.check looks at bytes before they are kept, and throws to refuse them
 * @param options.maxBytes of all files together
 * @param options.tooLarge what is thrown for more
 */
export const createMemoryFs = (options: {
  readonly check: (path: string, bytes: Uint8Array) => void;
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
}) => {
  const files = new Map<string, Uint8Array>();
  const folders = new Set<string>(['/']);
  let total = 0;
  const clean = (path: string): string => posix.resolve('/', path);

  const readFile = async (path: string, encoding?: Encoding): Promise<Uint8Array | string> => {
    const key = clean(path);
    const bytes = files.get(key);
    if (bytes === undefined) throw failure(folders.has(key) ? 'EISDIR' : 'ENOENT', path);
    const name = typeof encoding === 'string' ? encoding : encoding?.encoding;
    return name === undefined ? bytes : Buffer.from(bytes).toString('utf8');
  };
  const writeFile = async (path: string, content: Uint8Array | string): Promise<void> => {
    const key = clean(path);
    if (!folders.has(posix.dirname(key))) throw failure('ENOENT', path);
    if (folders.has(key)) throw failure('EISDIR', path);
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const size = total - (files.get(key)?.byteLength ?? 0) + bytes.byteLength;
    if (size > options.maxBytes) throw options.tooLarge();
    options.check(key, bytes);
    files.set(key, bytes);
    total = size;
  };
  const stat = async (path: string): Promise<Stats> => {
    const key = clean(path);
    if (folders.has(key)) return statsOf('dir', 0);
    const bytes = files.get(key);
    if (bytes === undefined) throw failure('ENOENT', path);
    return statsOf('file', bytes.byteLength);
  };

  return {
    promises: {
      readFile,
      writeFile,
      stat,
      lstat: stat,
      async unlink(path: string): Promise<void> {
        const key = clean(path);
        const bytes = files.get(key);
        if (bytes === undefined) throw failure('ENOENT', path);
        files.delete(key);
        total -= bytes.byteLength;
      },
      async mkdir(path: string): Promise<void> {
        const key = clean(path);
        if (folders.has(key) || files.has(key)) throw failure('EEXIST', path);
        if (!folders.has(posix.dirname(key))) throw failure('ENOENT', path);
        folders.add(key);
      },
      async rmdir(path: string): Promise<void> {
        if (!folders.delete(clean(path))) throw failure('ENOENT', path);
      },
      async readdir(path: string): Promise<string[]> {
        const key = clean(path);
        if (!folders.has(key)) throw failure(files.has(key) ? 'ENOTDIR' : 'ENOENT', path);
        const names = [...files.keys(), ...folders].filter((it) => it !== key && posix.dirname(it) === key);
        return names.map((it) => posix.basename(it)).sort();
      },
      /** There are no links here. */
      async readlink(path: string): Promise<string> {
        throw failure('ENOENT', path);
      },
      async symlink(_target: string, path: string): Promise<void> {
        throw failure('EEXIST', path);
      },
    },
  };
};
