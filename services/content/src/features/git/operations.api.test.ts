import { join } from 'node:path';
import { type GitServer, gitIsHere, startGitServer } from '@bindery/git-sync/testing';
import { openSqliteSearchIndex } from '@bindery/search/sqlite';
import { createLateClient } from '@bindery/service-kit';
import { quickTuning } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createContentService } from '../../service.ts';
import { member, openSpace, publish, type TestContent } from '../../testing.ts';
import { ended, gitCalls, startWithGit, sync } from './testing.ts';

const admin = member('admin');
// Without git there is no repository to talk to.
const withGit = gitIsHere ? describe : describe.skip;

withGit(gitIsHere ? 'operations of git sync' : 'SKIPPED: git http-backend is not installed', () => {
  let content: TestContent;
  let server: GitServer;
  let calls: ReturnType<typeof gitCalls>;
  beforeAll(async () => {
    [content, server] = await Promise.all([startWithGit(), startGitServer()]);
    calls = gitCalls(content, server, admin);
  });
  afterAll(async () => {
    await content.stop();
    await server.stop();
  });

  test('timestamps, force, standalone, directories, credentials', async () => {
    const { importing, revisionOf } = calls;
    const spaceId = await openSpace(content, admin);
    await server.create('late', { 'site/docs/README.md': '# One\n', 'site/.gitbook.yaml': 'root: ./docs/\n' });
    const at = (hour: number) => ({ timestamp: `2026-03-01T${hour}:00:00Z`, repoProjectDirectory: 'site' });
    await importing(spaceId, 'late', at(12));
    const first = await revisionOf(spaceId);
    expect(first.pages).toMatchObject([{ title: 'One', git: { path: 'README.md' } }]);
    server.commit('late', { 'site/docs/README.md': '# Two\n' });
    await importing(spaceId, 'late', at(11));
    expect((await revisionOf(spaceId)).id).toBe(first.id);
    const infoBefore = (await content.call('getSpaceGitInfo', admin, { params: { spaceId } })).body;
    await importing(spaceId, 'late', { ...at(12), standalone: true });
    expect((await revisionOf(spaceId)).id).toBe(first.id);
    expect(infoBefore.operation?.state).toBe('success');
    await importing(spaceId, 'late', { ...at(11), force: true });
    expect((await revisionOf(spaceId)).pages).toMatchObject([{ id: first.pages[0]?.id, title: 'Two' }]);

    server.auth = 'me:hunter2-token';
    const secret = server.url('late').replace('http://', 'http://me:hunter2-token@');
    expect(await importing(spaceId, 'late', at(13))).toMatchObject({
      state: 'failure',
      error: expect.stringContaining('refused'),
    });
    const wrong = { ...at(13), url: secret.replace('hunter2', 'other') };
    expect(await importing(spaceId, 'late', wrong)).toMatchObject({ state: 'failure' });
    expect(await importing(spaceId, 'late', { ...at(14), url: secret })).toMatchObject({ state: 'success' });
    server.auth = undefined;
    const info = (await content.call('getSpaceGitInfo', admin, { params: { spaceId } })).body;
    expect(JSON.stringify(info)).not.toContain('hunter2');
    expect(info.url).toBe(server.url('late'));
    for await (const event of content.ports.eventStore.readStream(`content.gitSync-${spaceId}`))
      expect(JSON.stringify(event)).not.toContain('hunter2');
  });

  test('who may, and what is refused at once', async () => {
    const spaceId = await openSpace(content, admin);
    const body = { url: 'https://git.example.org/a/b.git', ref: 'refs/heads/main' };
    const attempt = (as: Parameters<TestContent['call']>[1], more: object = {}) =>
      content.call('importGitRepository', as, { params: { spaceId }, body: { ...body, ...more } });
    expect((await attempt(member('review'))).status).toBe(403);
    expect((await attempt(member(undefined, 'stranger'))).status).toBe(404);
    for (const more of [
      { url: 'ssh://git@example.org/x' },
      { url: 'file:///etc' },
      { url: 'https://x.test/a?token=1' },
      { url: 'https://%zz:x@x.test/a' },
      { ref: 'main' },
      { ref: 'refs/heads/a..b' },
      { ref: 'refs/heads/' },
      { ref: 'refs/heads/x\u0000y' },
      { repoProjectDirectory: '../up' },
      { repoCommitURL: 'https://a:b@x.test/' },
      { unknown: 1 },
    ])
      expect([more, (await attempt(admin, more)).status]).toEqual([more, 400]);
    await content.call('updateSpaceById', admin, { params: { spaceId }, body: { editMode: 'locked' } });
    expect(await attempt(admin)).toMatchObject({ status: 403, code: 'space.locked' });
  });

  test('an operation that a process left is taken up after a restart; one with credentials fails in words', async () => {
    const crashing = await startWithGit();
    const open = await openSpace(crashing, admin);
    const closed = await openSpace(crashing, admin);
    await server.create('left', { 'README.md': '# Left\n' });
    const waiting = Promise.withResolvers<void>();
    let asked = 0;
    server.intercept = () => {
      asked += 1;
      if (asked === 2) waiting.resolve();
      // Never answered.
      return true;
    };
    const body = { url: server.url('left'), ref: 'refs/heads/main' };
    const secret = { ...body, url: body.url.replace('http://', 'http://me:secret@') };
    await crashing.call('importGitRepository', admin, { params: { spaceId: open }, body });
    await crashing.call('importGitRepository', admin, { params: { spaceId: closed }, body: secret });
    const busy = await crashing.call('exportToGitRepository', admin, {
      params: { spaceId: open },
      body: { ...body, commitMessage: 'x' },
    });
    expect(busy).toMatchObject({ status: 409, code: 'git.busy' });
    await waiting.promise;
    server.intercept = undefined;
    const restarted = await crashing.restarted();
    expect(await ended(restarted, admin, open)).toMatchObject({ state: 'success' });
    expect(await ended(restarted, admin, closed)).toMatchObject({
      state: 'failure',
      error: expect.stringContaining('restarted'),
    });
    const revision = await restarted.call('getCurrentRevision', admin, { params: { spaceId: open } });
    expect(revision.body.pages).toMatchObject([{ title: 'Left' }]);
    const shown = await restarted.call('getSpaceGitInfo', admin, { params: { spaceId: open } });
    await restarted.settled();
    await restarted.service.rebuild();
    expect((await restarted.call('getCurrentRevision', admin, { params: { spaceId: open } })).body).toEqual(
      revision.body,
    );
    expect((await restarted.call('getSpaceGitInfo', admin, { params: { spaceId: open } })).body).toEqual(shown.body);
    await restarted.stop();
  });

  test('one that waits for its turn in one replica is not taken for left by another', async () => {
    const git = { timeoutMs: 3000, sweepMs: 20, graceMs: 500 };
    const one = await startWithGit({ git });
    const spaces = [await openSpace(one, admin), await openSpace(one, admin), await openSpace(one, admin)];
    await server.create('slow', { 'README.md': '# Slow\n' });
    const index = await openSqliteSearchIndex({ path: join(one.ports.folder, 'other.db') });
    const other = createContentService({
      ports: one.ports,
      services: createLateClient().client,
      blobStore: one.blobs,
      searchIndex: index,
      fetchGuard: () => Promise.reject(new Error('nothing is fetched')),
      cursorSecret: 'a secret for tests only',
      tuning: quickTuning,
      git,
    });
    await other.start();
    // Never answered: two are under way, and the third, which nobody else could carry out, waits.
    server.intercept = () => true;
    const url = server.url('slow').replace('http://', 'http://me:secret@');
    for (const spaceId of spaces) {
      const body = { url, ref: 'refs/heads/main' };
      expect((await one.call('importGitRepository', admin, { params: { spaceId }, body })).status).toBe(204);
    }
    for (const spaceId of spaces) expect(await ended(one, admin, spaceId)).toMatchObject({ state: 'timeout' });
    server.intercept = undefined;
    await other.stop();
    await index.close();
    await one.stop();
  });

  test('changes that are merged while an import runs are not lost, and one that takes too long is given up', async () => {
    const spaceId = await openSpace(content, admin);
    await server.create('busy', { 'README.md': '# Busy\n\none\n' });
    const url = server.url('busy');
    await sync(content, admin, 'importGitRepository', spaceId, { url });
    server.commit('busy', { 'README.md': '# Busy\n\ntwo\n', 'more.md': '# More\n' });
    const merges = Array.from({ length: 5 }, (_, n) =>
      publish(content, admin, spaceId, [
        { operation: 'insert_page', title: `Here ${n}`, document: { markdown: `# Here ${n}\n` } },
      ]),
    );
    const [outcome] = await Promise.all([sync(content, admin, 'importGitRepository', spaceId, { url }), ...merges]);
    expect(outcome).toMatchObject({ state: 'success' });
    const { pages } = (await content.call('getCurrentRevision', admin, { params: { spaceId } })).body;
    expect(pages.map(({ title }) => title).sort()).toEqual([
      'Busy',
      'Here 0',
      'Here 1',
      'Here 2',
      'Here 3',
      'Here 4',
      'More',
    ]);

    const slow = await startWithGit({ git: { timeoutMs: 200 } });
    const other = await openSpace(slow, admin);
    server.intercept = () => true;
    expect(await sync(slow, admin, 'importGitRepository', other, { url })).toMatchObject({ state: 'timeout' });
    server.intercept = undefined;
    await slow.stop();
  });
});
