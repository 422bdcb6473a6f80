import { type GitServer, gitIsHere, startGitServer } from '@bindery/git-sync/testing';
import type { GitSyncState } from '@gitbook/api';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { markdownOf } from './change-requests.ts';
import { eventually, type World } from './world.ts';

/** Import from and export to a real repository, and the reusable contents that come with it. */
export const git = (world: () => World): void =>
  // Without git there is no repository to talk to.
  (gitIsHere ? describe : describe.skip)(gitIsHere ? 'git' : 'SKIPPED: git http-backend is not installed', () => {
    let server: GitServer;
    let space: string;
    let reusable: string;
    beforeAll(async () => {
      server = await startGitServer();
    });
    afterAll(() => server.stop());

    const ended = (since?: string): Promise<GitSyncState['operation']> =>
      eventually('the sync has ended', async () => {
        const { operation } = (await world().admin.api.spaces.getSpaceGitInfo(space)).data;
        return operation !== undefined && operation.state !== 'running' && operation.startedAt !== since
          ? operation
          : undefined;
      });

    test('imported: pages, a file, a reusable content', async () => {
      const { admin, organization } = world();
      const { orgs, spaces } = admin.api;
      space = (await orgs.createSpace(organization, { title: 'From git', empty: true })).data.id;
      await expect(spaces.getSpaceGitInfo(space)).rejects.toMatchObject({ code: 404 });
      await server.create('docs', {
        'README.md': '# Home\n\nSee [start](start.md).\n\n{% include ".gitbook/includes/note.md" %}\n',
        'start.md': '# Start\n\nBegin.\n',
        'SUMMARY.md': '# Table of contents\n\n* [Home](README.md)\n* [Start](start.md)\n',
        '.gitbook/includes/note.md': '---\ntitle: Note\n---\n\nSaid once.\n',
      });
      const started = await spaces.importGitRepository(space, { url: server.url('docs'), ref: 'refs/heads/main' });
      expect(started.status).toBe(204);
      expect(await ended()).toMatchObject({ state: 'success', direction: 'import' });
      const { data } = await spaces.getCurrentRevision(space);
      expect(data.pages.map(({ title }) => title)).toEqual(['Home', 'Start']);
      expect(data.git?.oid).toBe(server.git('docs', ['rev-parse', 'main']).trim());
      reusable = data.reusableContents[0]?.id ?? '';
    });

    test('the reusable content, in the space, a revision and a change request', async () => {
      const { spaces } = world().admin.api;
      const revision = (await spaces.getCurrentRevision(space)).data.id;
      const change = (await spaces.createChangeRequest(space, { subject: 'Look' })).data.id;
      for (const { data } of [
        await spaces.getReusableContentById(space, reusable),
        await spaces.getReusableContentInRevisionById(space, revision, reusable),
        await spaces.getReusableContentInChangeRequestById(space, change, reusable),
      ])
        expect(data).toMatchObject({ id: reusable, title: 'Note', document: expect.any(String) });
      const document = (await spaces.getReusableContentDocumentInRevisionById(space, revision, reusable)).data;
      expect(JSON.stringify(document)).toContain('Said once.');
    });

    test('exported: what was merged is in the repository', async () => {
      const { spaces } = world().admin.api;
      const page = (await spaces.getPageByPath(space, 'start', { format: 'markdown' })).data;
      expect(markdownOf(page)).toContain('Begin.');
      const change = (await spaces.createChangeRequest(space, { subject: 'Edit' })).data.id;
      await spaces.updateChangeRequestContent(space, change, {
        changes: [{ operation: 'update_page', page: page.id, document: { markdown: '# Start\n\nBegin again.' } }],
      });
      await spaces.mergeChangeRequest(space, change);
      const before = await ended();
      const started = await spaces.exportToGitRepository(space, {
        ...{ url: server.url('docs'), ref: 'refs/heads/main', commitMessage: 'From the product' },
      });
      expect(started.status).toBe(204);
      expect(await ended(before?.startedAt)).toMatchObject({ state: 'success', direction: 'export' });
      expect(server.git('docs', ['show', 'main:start.md'])).toContain('Begin again.');
      expect(server.git('docs', ['log', '-1', '--format=%s', 'main'])).toContain('From the product');
    });
  });
