import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The server side of git over HTTP, as it is installed; undefined where there is none. */
const backend = (() => {
  try {
    const path = join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend');
    return existsSync(path) ? path : undefined;
  } catch {
    // No git at all.
    return undefined;
  }
})();

/** Whether repositories can be served here. */
export const gitIsHere = backend !== undefined;

/** Real repositories behind git's own HTTP backend. */
export interface GitServer {
  readonly port: number;
  /** `http://127.0.0.1:<port>/<name>.git` */
  url(name: string): string;
  /** Makes a bare repository; with files, it gets a commit of them on `branch`. */
  create(name: string, files?: TestFiles, branch?: string): Promise<void>;
  /** Puts a commit with more, other (or with null: fewer) files on a branch. */
  commit(name: string, files: TestFiles, options?: { branch?: string; message?: string }): string;
  /** Runs git in a bare repository. */
  git(name: string, args: readonly string[], input?: string | Uint8Array): string;
  /** All files of a branch by path. */
  files(name: string, branch?: string): ReadonlyMap<string, string>;
  /** Asked for by every request when set: `user:password`. */
  auth: string | undefined;
  /** Sees every request first; true when it has answered. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  stop(): Promise<void>;
}

/** File contents by path; null deletes, `link` makes a symbolic link. */
export type TestFiles = Readonly<Record<string, string | Uint8Array | null | { readonly link: string }>>;

const identity = {
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.org',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.org',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

const serve = (request: IncomingMessage, response: ServerResponse, root: string): void => {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  const child = spawn(backend ?? 'git-http-backend', [], {
    env: {
      ...process.env,
      ...identity,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'test',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: decodeURIComponent(path),
      QUERY_STRING: query,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      ...(request.headers['content-length'] ? { CONTENT_LENGTH: request.headers['content-length'] } : {}),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined);
  let head = Buffer.alloc(0);
  let started = false;
  child.stdout.on('data', (chunk: Buffer) => {
    if (started) {
      response.write(chunk);
      return;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    started = true;
    let status = 200;
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/, 2);
      if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.writeHead(status);
    response.write(head.subarray(end + 4));
  });
  child.stdout.on('end', () => response.end());
};

/** Starts the server on a free port; call `stop` at the end. */
export const startGitServer = async (): Promise<GitServer> => {
  const root = await mkdtemp(join(tmpdir(), 'bindery-git-'));
  const folder = (name: string): string => join(root, `${name}.git`);
  const run = (name: string, args: readonly string[], input?: string | Uint8Array, env: object = {}): string =>
    execFileSync('git', ['-C', folder(name), ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...identity, ...env },
      maxBuffer: 256 * 1024 * 1024,
      ...(input === undefined ? {} : { input }),
    });

  const server: Server = createServer((request, response) => {
    if (self.intercept?.(request, response) === true) return;
    const given = Buffer.from((request.headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString();
    if (self.auth !== undefined && given !== self.auth) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
      return;
    }
    serve(request, response, root);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  const self: GitServer = {
    port: address.port,
    auth: undefined,
    intercept: undefined,
    url: (name) => `http://127.0.0.1:${address.port}/${name}.git`,
    async create(name, files, branch = 'main') {
      await mkdir(folder(name), { recursive: true });
      run(name, ['init', '-q', '--bare', '-b', branch, '.']);
      run(name, ['config', 'http.receivepack', 'true']);
      if (files !== undefined) self.commit(name, files, { branch });
    },
    commit(name, files, { branch = 'main', message = 'Change' } = {}) {
      // Straight into the object store: no work tree, so that no name means anything to a file system.
      const ref = `refs/heads/${branch}`;
      const there = run(name, ['for-each-ref', '--format=%(objectname)', ref]).trim();
      const parts: (string | Uint8Array)[] = [
        `commit ${ref}\ncommitter Test <test@example.org> 1767225600 +0000\n`,
        `data ${Buffer.byteLength(message)}\n${message}\n`,
        ...(there === '' ? [] : [`from ${ref}^0\n`]),
      ];
      for (const [path, content] of Object.entries(files)) {
        const quoted = JSON.stringify(path);
        if (content === null) parts.push(`D ${quoted}\n`);
        else {
          const isLink = typeof content === 'object' && 'link' in content;
          const bytes = Buffer.from(isLink ? content.link : (content as string | Uint8Array));
          parts.push(`M ${isLink ? '120000' : '100644'} inline ${quoted}\n`, `data ${bytes.length}\n`, bytes, '\n');
        }
      }
      run(name, ['fast-import', '--quiet', '--force'], Buffer.concat(parts.map((part) => Buffer.from(part))));
      return run(name, ['rev-parse', ref]).trim();
    },
    git: run,
    files(name, branch = 'main') {
      const list = run(name, ['ls-tree', '-r', '-z', '--format=%(objecttype) %(objectname) %(path)', branch]);
      const found = new Map<string, string>();
      for (const line of list.split('\0')) {
        const [type, oid = '', ...path] = line.split(' ');
        if (type === 'blob') found.set(path.join(' '), oid);
      }
      return found;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      await rm(root, { recursive: true, force: true });
    },
  };
  return self;
};
