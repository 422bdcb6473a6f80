import { deflateSync } from 'node:zlib';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type GitServer, gitIsHere, startGitServer } from '../testing/git-server.ts';
import { checkPack } from './pack-check.ts';
import { openRepository, type RepositoryOptions } from './repository.ts';

const fetch = createGuardedFetch({ allow: ['127.0.0.1'] });
const author = { name: 'Bindery', email: 'sync@example.org' };
const at = new Date('2026-02-01T10:00:00Z');
const bytes = (text: string) => Buffer.from(text);

// Without git there is no repository to talk to.
const withGit = gitIsHere ? describe : describe.skip;

withGit(gitIsHere ? 'a repository over http' : 'SKIPPED: git http-backend is not installed', () => {
  let server: GitServer;
  beforeAll(async () => {
    server = await startGitServer();
  });
  afterAll(() => server.stop());
  const open = (name: string, more: Partial<RepositoryOptions> = {}) =>
    openRepository({
      fetch,
      url: server.url(name),
      ref: 'refs/heads/main',
      signal: AbortSignal.timeout(20_000),
      ...more,
    });

  test('gives the files of the newest commit, and leaves links, submodules and strange names out', async () => {
    await server.create('one', { 'README.md': '# One\n', 'a/b.md': 'x', 'a/B.md': 'y', link: { link: '/etc/passwd' } });
    const oid = server.git('one', ['rev-parse', 'main']).trim();
    server.git('one', ['update-ref', 'refs/heads/main', withEntries(server, 'one', [`160000 commit ${oid}\tsub`])]);
    const repository = await open('one');
    expect([...repository.files.keys()].sort()).toEqual(['README.md', 'a/B.md', 'a/b.md']);
    expect([...repository.others].sort()).toEqual(['link', 'sub']);
    expect(Buffer.from(await repository.read(repository.files.get('README.md') ?? '')).toString()).toBe('# One\n');
    expect(repository.commit).toMatchObject({ message: 'with more', committedAt: '2026-01-01T00:00:00.000Z' });
  });

  test('pushes on top, keeps what it was not told of, and says when nothing changed', async () => {
    await server.create('two', { 'README.md': '# Two\n', 'src/code.c': 'int main;', 'old.md': 'old' });
    const before = server.git('two', ['rev-parse', 'main']).trim();
    const repository = await open('two');
    const changes = new Map([
      ['guides/new.md', bytes('new')],
      ['old.md', null],
    ]);
    const pushed = await repository.push(changes, { message: 'Sync', author, at });
    expect(server.git('two', ['rev-parse', 'main', 'main^']).split('\n').slice(0, 2)).toEqual([pushed?.oid, before]);
    expect([...server.files('two').keys()]).toEqual(['README.md', 'guides/new.md', 'src/code.c']);
    expect(server.git('two', ['log', '-1', '--format=%an %ae %at %s']).trim()).toBe(
      'Bindery sync@example.org 1769940000 Sync',
    );
    server.git('two', ['fsck', '--strict']);
    const again = await open('two');
    const same = new Map([['guides/new.md', bytes('new')]]);
    expect(await again.push(same, { message: 'Sync', author, at })).toBeUndefined();
    // Another push came first: nothing of it is lost.
    const late = await open('two');
    const other = server.commit('two', { 'other.md': 'other' });
    const mine = new Map([['mine.md', bytes('mine')]]);
    await expect(late.push(mine, { message: 'Sync', author, at })).rejects.toMatchObject({ reason: 'behind' });
    expect(server.git('two', ['rev-parse', 'main']).trim()).toBe(other);
  });

  test('an empty repository, a missing branch, a missing repository', async () => {
    await server.create('empty');
    await expect(open('empty')).rejects.toMatchObject({ reason: 'no-branch' });
    const empty = await open('empty', { missing: 'begin' });
    expect(empty.commit).toBeUndefined();
    await empty.push(new Map([['README.md', bytes('# First\n')]]), { message: 'First', author, at });
    expect([...server.files('empty').keys()]).toEqual(['README.md']);
    const docs = { ref: 'refs/heads/docs', missing: 'begin' } as const;
    await expect(open('empty', { ref: 'refs/heads/docs' })).rejects.toMatchObject({ reason: 'no-branch' });
    await (await open('empty', docs)).push(new Map([['x.md', bytes('x')]]), { message: 'Docs', author, at });
    expect([...server.files('empty', 'docs').keys()]).toEqual(['README.md', 'x.md']);
    await expect(open('nowhere')).rejects.toMatchObject({ reason: 'not-found' });
  });

  test('credentials: missing, wrong, right; they do not follow a redirect to another origin', async () => {
    await server.create('private', { 'README.md': '# P\n' });
    server.auth = 'me:pass word';
    await expect(open('private')).rejects.toMatchObject({ reason: 'refused' });
    const wrong = open('private', { credentials: { username: 'me', password: 'secret-guess' } });
    await expect(wrong).rejects.toMatchObject({ reason: 'refused' });
    await expect(wrong).rejects.not.toMatchObject({ message: expect.stringContaining('secret-guess') });
    const right = { credentials: { username: 'me', password: 'pass word' } };
    expect((await open('private', right)).files.size).toBe(1);
    const seen: (string | undefined)[] = [];
    server.intercept = (request, response) => {
      if (!request.url?.startsWith('/moved.git')) {
        seen.push(request.headers.authorization);
        return false;
      }
      const location = `http://localhost:${server.port}${request.url.replace('/moved.git', '/private.git')}`;
      response.writeHead(302, { location }).end();
      return true;
    };
    const local = createGuardedFetch({ allow: ['127.0.0.1', 'localhost'] });
    await expect(open('moved', { ...right, fetch: local })).rejects.toMatchObject({ reason: 'refused' });
    expect(seen).toEqual([undefined]);
    server.auth = undefined;
    // Without credentials the redirect is followed, also for the exchange after it.
    expect((await open('moved', { fetch: local })).files.size).toBe(1);
    server.intercept = undefined;
  });

  test('private addresses and redirects to them are refused', async () => {
    await server.create('inside', { 'README.md': '# In\n' });
    await expect(open('inside', { fetch: createGuardedFetch() })).rejects.toMatchObject({
      reason: 'unreachable',
      message: expect.stringContaining('not public'),
    });
    server.intercept = (request, response) => {
      if (request.headers.host?.startsWith('good.test') !== true) return false;
      response.writeHead(302, { location: `${server.url('inside')}/info/refs?service=git-upload-pack` }).end();
      return true;
    };
    const guarded = createGuardedFetch({ allow: ['good.test'], resolve: async () => ['127.0.0.1'] });
    const url = `http://good.test:${server.port}/x.git`;
    await expect(open('x', { url, fetch: guarded })).rejects.toMatchObject({ reason: 'unreachable' });
    server.intercept = undefined;
  });

  test('what is too large, too many or no repository at all fails in words', async () => {
    await server.create('large', { 'a.bin': Buffer.alloc(300_000), 'b.md': 'b' });
    const limited = (limits: object) => open('large', { limits });
    await expect(limited({ maxObjectBytes: 100_000 })).rejects.toMatchObject({ reason: 'too-large' });
    await expect(limited({ maxTotalBytes: 200_000 })).rejects.toMatchObject({ reason: 'too-large' });
    await expect(limited({ maxPackBytes: 100 })).rejects.toMatchObject({ reason: 'too-large' });
    await expect(limited({ maxEntries: 1 })).rejects.toMatchObject({ reason: 'too-many' });
    server.intercept = (_, response) => {
      response.setHeader('content-type', 'text/html').end('<html>hello</html>');
      return true;
    };
    await expect(open('large')).rejects.toMatchObject({ reason: 'unusable' });
    server.intercept = undefined;
    const gone = AbortSignal.abort(new Error('stopped'));
    await expect(open('large', { signal: gone })).rejects.toBeDefined();
  });
});

/** A commit whose tree has more entries than can be made with files. */
const withEntries = (server: GitServer, name: string, lines: readonly string[]): string => {
  const before = server.git(name, ['ls-tree', 'main']);
  const tree = server.git(name, ['mktree', '--missing'], `${before}${lines.join('\n')}\n`).trim();
  return server.git(name, ['commit-tree', tree, '-p', 'main', '-m', 'with more']).trim();
};

describe('packs', () => {
  const limits = { maxObjects: 10, maxObjectBytes: 1000, maxTotalBytes: 1500 };
  const pack = (objects: readonly (readonly [type: number, size: number, data: Uint8Array])[]): Uint8Array => {
    const head = Buffer.alloc(12);
    head.write('PACK');
    head.writeUInt32BE(2, 4);
    head.writeUInt32BE(objects.length, 8);
    const body = objects.flatMap(([type, size, data]) => {
      const bytesOfHead = [(type << 4) | (size & 15) | (size > 15 ? 128 : 0)];
      for (let rest = size >> 4; rest > 0; rest >>= 7) bytesOfHead.push((rest & 127) | (rest > 127 ? 128 : 0));
      return [Buffer.from(bytesOfHead), deflateSync(data)];
    });
    return Buffer.concat([head, ...body, Buffer.alloc(20)]);
  };

  test('small ones pass', () => {
    expect(() => checkPack(pack([[3, 5, bytes('hello')]]), limits)).not.toThrow();
  });

  test.each([
    ['says that it is large', [[3, 5000, Buffer.alloc(5000)]], 'too-large'],
    ['says less than comes out', [[3, 10, Buffer.alloc(100_000)]], 'unusable'],
    ['says more than comes out', [[3, 900, Buffer.alloc(10)]], 'unusable'],
    ['is large together', Array.from({ length: 3 }, () => [3, 900, Buffer.alloc(900)]), 'too-large'],
    ['has many objects', Array.from({ length: 11 }, () => [3, 1, Buffer.alloc(1)]), 'too-many'],
  ] as const)('one that %s is refused', (_, objects, reason) => {
    const made = pack(objects as readonly (readonly [number, number, Uint8Array])[]);
    expect(() => checkPack(made, limits)).toThrow(expect.objectContaining({ reason }));
  });

  test('a delta that makes something large is refused', () => {
    // Reference delta: 20 bytes of id, then base size 1 and result size 1,000,000.
    const delta = Buffer.from([1, 0xc0, 0x84, 0x3d, 1, 0]);
    const head = Buffer.alloc(12);
    head.write('PACK');
    head.writeUInt32BE(2, 4);
    head.writeUInt32BE(1, 8);
    const made = Buffer.concat([head, Buffer.from([(7 << 4) | delta.length]), Buffer.alloc(20), deflateSync(delta)]);
    expect(() => checkPack(Buffer.concat([made, Buffer.alloc(20)]), limits)).toThrow(
      expect.objectContaining({ reason: 'too-large' }),
    );
  });

  test.each(['', 'PACK', 'nonsense'.repeat(10)])('%j is no pack', (text) => {
    expect(() => checkPack(bytes(text), limits)).toThrow(expect.objectContaining({ reason: 'unusable' }));
  });
});
