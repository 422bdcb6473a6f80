import { createHash } from 'node:crypto';
import type { GuardedFetch } from '@bindery/guarded-fetch';
import git from 'isomorphic-git';
import { GitSyncFailed, isGitSyncFailed } from '../errors.ts';
import { createMemoryFs } from './memory-fs.ts';
import { checkPack } from './pack-check.ts';
import { createTransport, type GitCredentials } from './transport.ts';

/** What a repository may be, in bytes and counts; all of it is in memory while it is synced. */
export interface RepositoryLimits {
  /** Of one answer of the server, compressed. Default 64 MiB. */
  readonly maxPackBytes: number;
  /** Of one file. Default 32 MiB. */
  readonly maxObjectBytes: number;
  /** Of everything, unpacked. Default 256 MiB. */
  readonly maxTotalBytes: number;
  /** Files and folders. Default 60,000. */
  readonly maxEntries: number;
  /** Of one exchange with the server, in ms. Default 120,000. */
  readonly timeoutMs: number;
}

export const defaultRepositoryLimits: RepositoryLimits = {
  maxPackBytes: 64 * 1024 * 1024,
  maxObjectBytes: 32 * 1024 * 1024,
  maxTotalBytes: 256 * 1024 * 1024,
  maxEntries: 60_000,
  timeoutMs: 120_000,
};

export interface RepositoryOptions {
  readonly fetch: GuardedFetch;
  /** http or https, without credentials. */
  readonly url: string;
  /** `refs/heads/main`. */
  readonly ref: string;
  readonly credentials?: GitCredentials;
  readonly signal: AbortSignal;
  readonly limits?: Partial<RepositoryLimits>;
  /** What to do where there is no such branch: refuse, or begin it at the default branch (or at nothing). Default refuse. */
  readonly missing?: 'begin';
}

/** One commit as it is shown. */
export interface CommitFacts {
  readonly oid: string;
  readonly message: string;
  /** ISO 8601. */
  readonly committedAt: string;
}

/** Changes of a commit by path from the root; null deletes. */
export type RepositoryChanges = ReadonlyMap<string, Uint8Array | null>;

/** The newest commit of one branch, with all of its files, and the way to put another one on top. */
export interface Repository {
  /** Absent when there is nothing yet. */
  readonly commit?: CommitFacts;
  /** Object ids of regular files by path. Links, submodules and whatever has a name that leads elsewhere are not among them. */
  readonly files: ReadonlyMap<string, string>;
  /** Paths that are something else than a regular file or folder: nothing is read from or written to them. */
  readonly others: ReadonlySet<string>;
  read(oid: string): Promise<Uint8Array>;
  /**
   * Puts a commit on top of `commit`. Never rewrites history: when the branch has moved on, it refuses.
   * @returns the new commit; undefined when the changes change nothing
   * @throws GitSyncFailed behind, rejected
   */
  push(
    changes: RepositoryChanges,
    facts: { readonly message: string; readonly author: CommitAuthor; readonly at: Date },
  ): Promise<CommitFacts | undefined>;
}

export interface CommitAuthor {
  readonly name: string;
  readonly email: string;
}

/** Deepest folder. */
const maxDepth = 60;
/** Characters of a commit's message that are kept, and of a path that is looked at. */
const maxMessage = 10_000;
const maxPath = 1024;
const gitdir = '/repository';
const local = 'refs/heads/sync';

/** The object id that bytes have as a file of a repository. */
export const blobOid = (bytes: Uint8Array): string =>
  createHash('sha1').update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex');

/** Names that must never be taken for a path. */
const isSafeName = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && name.toLowerCase() !== '.git' && !/[/\\\0]/.test(name);

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : '');

/** What the git library says, in our words; it must not say more than the caller may know. */
const explained = (error: unknown, signal: AbortSignal): unknown => {
  if (isGitSyncFailed(error)) return error;
  if (signal.aborted) return signal.reason;
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  switch (code) {
    case 'SmartHttpError':
    case 'ParseError':
      return new GitSyncFailed('unusable', 'The address does not answer as a git repository does.', { cause: error });
    case 'RemoteCapabilityError':
      return new GitSyncFailed('unusable', 'The server of the repository is too old.', { cause: error });
    case 'UnsafeFilepathError':
      return new GitSyncFailed('unusable', 'The repository has a file with an unsafe name.', { cause: error });
    default:
      return new GitSyncFailed('unusable', 'The repository cannot be read.', { cause: error });
  }
};

/**
 * Fetches the newest commit of a branch into memory.
 * @throws GitSyncFailed
 */
export const openRepository = async (options: RepositoryOptions): Promise<Repository> => {
  const { url, ref, signal, credentials } = options;
  const limits = { ...defaultRepositoryLimits, ...options.limits };
  const fs = createMemoryFs({
    maxBytes: limits.maxPackBytes + limits.maxTotalBytes,
    tooLarge: () => new GitSyncFailed('too-large', 'The repository is too large.'),
    check: (path, bytes) => {
      if (!path.endsWith('.pack')) return;
      const { maxEntries: maxObjects, maxObjectBytes, maxTotalBytes } = limits;
      checkPack(bytes, { maxObjects, maxObjectBytes, maxTotalBytes });
    },
  });
  const http = createTransport(url, {
    fetch: options.fetch,
    maxBytes: limits.maxPackBytes,
    timeoutMs: limits.timeoutMs,
    signal,
    ...(credentials === undefined ? {} : { credentials }),
  });
  const cache = {};
  const store = { fs, gitdir, cache };

  const fetchRef = async (remoteRef: string): Promise<string | undefined> => {
    const found = await git.fetch({
      ...store,
      http,
      url,
      ref: remoteRef,
      remoteRef,
      depth: 1,
      singleBranch: true,
      tags: false,
    });
    return found.fetchHead ?? undefined;
  };
  let isThere = true;
  const headOid = async (): Promise<string | undefined> => {
    try {
      return await fetchRef(ref);
    } catch (error) {
      if (nameOf(error) !== 'NotFoundError') throw error;
      if (options.missing !== 'begin')
        throw new GitSyncFailed('no-branch', `The repository has no ${ref}.`, { cause: error });
      isThere = false;
    }
    try {
      return await fetchRef('HEAD');
    } catch (error) {
      // A repository whose default branch does not exist yet.
      if (nameOf(error) === 'NotFoundError') return undefined;
      throw error;
    }
  };

  const files = new Map<string, string>();
  const others = new Set<string>();
  let entries = 0;
  const list = async (tree: string, above: string, depth: number): Promise<void> => {
    signal.throwIfAborted();
    if (depth > maxDepth) throw new GitSyncFailed('too-many', `The folder ${above} is nested too deeply.`);
    for (const entry of (await git.readTree({ ...store, oid: tree })).tree) {
      entries += 1;
      if (entries > limits.maxEntries)
        throw new GitSyncFailed('too-many', `The repository has more than ${limits.maxEntries} files.`);
      const path = `${above}${entry.path}`;
      if (!isSafeName(entry.path) || path.length > maxPath) continue;
      if (entry.type === 'tree') await list(entry.oid, `${path}/`, depth + 1);
      else if (entry.type === 'blob' && entry.mode !== '120000') files.set(path, entry.oid);
      else others.add(path);
    }
  };

  const factsOf = async (oid: string): Promise<CommitFacts & { readonly tree: string }> => {
    const { commit } = await git.readCommit({ ...store, oid });
    const committedAt = new Date(commit.committer.timestamp * 1000);
    const valid = Number.isNaN(committedAt.getTime()) ? new Date(0) : committedAt;
    return {
      oid,
      message: commit.message.trimEnd().slice(0, maxMessage).toWellFormed(),
      committedAt: valid.toISOString(),
      tree: commit.tree,
    };
  };

  let head: (CommitFacts & { readonly tree: string }) | undefined;
  try {
    await git.init({ fs, gitdir, bare: true, defaultBranch: 'sync' });
    await git.addRemote({ fs, gitdir, remote: 'origin', url });
    const oid = await headOid();
    if (oid === undefined && options.missing !== 'begin')
      throw new GitSyncFailed('no-branch', `The repository has no ${ref}.`);
    if (oid !== undefined) {
      head = await factsOf(oid);
      await list(head.tree, '', 0);
    }
  } catch (error) {
    throw explained(error, signal);
  }
  const tip = head;

  /** Writes a folder with its changes; undefined when nothing is left in it. */
  const writeFolder = async (tree: string | undefined, changes: RepositoryChanges): Promise<string | undefined> => {
    const kept = tree === undefined ? [] : (await git.readTree({ ...store, oid: tree })).tree;
    const byName = new Map(kept.map((entry) => [entry.path, entry]));
    const below = new Map<string, Map<string, Uint8Array | null>>();
    for (const [path, bytes] of changes) {
      const slash = path.indexOf('/');
      if (slash >= 0) {
        const name = path.slice(0, slash);
        const inner = below.get(name) ?? new Map<string, Uint8Array | null>();
        below.set(name, inner.set(path.slice(slash + 1), bytes));
      } else if (bytes === null) byName.delete(path);
      else {
        const oid = await git.writeBlob({ ...store, blob: bytes });
        const mode = byName.get(path)?.mode;
        byName.set(path, { path, oid, type: 'blob', mode: mode === '100755' ? mode : '100644' });
      }
    }
    for (const [path, inner] of below) {
      const there = byName.get(path);
      if (there !== undefined && there.type !== 'tree')
        throw new GitSyncFailed('unusable', `The repository has a file where the folder ${path} belongs.`);
      const oid = await writeFolder(there?.oid, inner);
      if (oid === undefined) byName.delete(path);
      else byName.set(path, { path, oid, type: 'tree', mode: '040000' });
    }
    return byName.size === 0 ? undefined : git.writeTree({ ...store, tree: [...byName.values()] });
  };

  const send = async (oid: string): Promise<void> => {
    await git.writeRef({ ...store, ref: local, value: oid, force: true });
    try {
      await git.push({ ...store, http, url, ref: local, remoteRef: ref });
    } catch (error) {
      const name = nameOf(error);
      if (name === 'PushRejectedError')
        throw new GitSyncFailed('behind', 'The branch has moved on meanwhile.', { cause: error });
      if (name !== 'GitPushError') throw explained(error, signal);
      const said = (error as { data?: { result?: { refs?: Record<string, { error?: string }> } } }).data;
      const reason = said?.result?.refs?.[ref]?.error ?? 'no reason given';
      throw new GitSyncFailed('rejected', `The repository did not take the commit: ${reason}`.slice(0, 300), {
        cause: error,
      });
    }
  };

  return {
    ...(tip === undefined ? {} : { commit: { oid: tip.oid, message: tip.message, committedAt: tip.committedAt } }),
    files,
    others,
    async read(oid) {
      try {
        return (await git.readBlob({ ...store, oid })).blob;
      } catch (error) {
        throw explained(error, signal);
      }
    },
    async push(changes, { message, author, at }) {
      let oid: string;
      try {
        const tree = (await writeFolder(tip?.tree, changes)) ?? (await git.writeTree({ ...store, tree: [] }));
        if (tree === tip?.tree) {
          if (!isThere) await send(tip.oid);
          return undefined;
        }
        const signature = { ...author, timestamp: Math.floor(at.getTime() / 1000), timezoneOffset: 0 };
        const parent = tip === undefined ? [] : [tip.oid];
        const commit = { message: `${message.trimEnd()}\n`, tree, parent, author: signature, committer: signature };
        oid = await git.writeCommit({ ...store, commit });
      } catch (error) {
        throw explained(error, signal);
      }
      await send(oid);
      return { oid, message: message.trimEnd(), committedAt: at.toISOString() };
    },
  };
};
