import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StorageUploadKind } from '@gitbook/api';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually, type World } from './world.ts';

/** Imports of a website and of files. */
export const imports = (world: () => World): void =>
  describe('imports', () => {
    let site: Server;
    let address = '';
    beforeAll(async () => {
      const pages: Readonly<Record<string, string>> = {
        '/docs/': '<main><h1>Home</h1><p>To <a href="start">start</a>.</p></main>',
        '/docs/start': '<main><h1>Start</h1><p>Begin.</p></main>',
      };
      site = createServer((request, response) => {
        const page = pages[request.url ?? ''];
        response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(page);
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => site.once('listening', resolve));
      address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/docs/`;
    });
    afterAll(() => new Promise((resolve) => site.close(resolve)));

    const ended = (id: string) =>
      eventually('the import has ended', async () => {
        const { data } = await world().admin.api.org.getImportRun(world().organization, id);
        return data.status === 'pending' || data.status === 'in-progress' ? undefined : data;
      });

    test('a website: started, looked at, listed, in the space', async () => {
      const { admin, bob, organization } = world();
      const { orgs, org, spaces } = admin.api;
      const space = (await orgs.createSpace(organization, { title: 'Imported', empty: true })).data.id;
      const source = { type: 'website' as const, url: address };
      const started = await org.startImportRun(organization, { source, target: { space } });
      expect(started.status).toBe(201);
      const run = await ended(started.data.id);
      expect(run).toMatchObject({ status: 'completed', target: { space } });
      expect(run.pages?.map(({ status }) => status)).toEqual(['complete', 'complete']);
      const { data } = await spaces.getCurrentRevision(space);
      expect(data.pages.map(({ title }) => title)).toEqual(['Home', 'Start']);
      expect((await spaces.getSpaceById(space)).data.imports?.[0]?.id).toBe(run.id);
      const listed = (await org.listImportRuns(organization, { space, status: 'completed' })).data.items;
      expect(listed.map(({ id }) => id)).toEqual([run.id]);
      await expect(org.cancelImportRun(organization, run.id)).rejects.toMatchObject({ code: 400 });
      await expect(bob.api.org.startImportRun(organization, { source, target: { space } })).rejects.toMatchObject({
        code: 403,
      });
    });

    test('a file: uploaded, imported into a change request; one is cancelled', async () => {
      const { admin, organization } = world();
      const { orgs, org, spaces } = admin.api;
      const space = (await orgs.createSpace(organization, { title: 'From files', empty: true })).data.id;
      const changeRequest = (await spaces.createChangeRequest(space, { subject: 'Import' })).data.id;
      const text = '# Uploaded\n\nText.\n';
      const file = { name: 'page.md', type: 'text/markdown', size: text.length };
      const { url, key } = (
        await orgs.generateStorageUploadUrl(organization, { file, kind: StorageUploadKind.ImportFile })
      ).data;
      expect((await fetch(url, { method: 'PUT', body: text })).ok).toBe(true);
      const source = { type: 'file' as const, files: [key] };
      const { id } = (await org.startImportRun(organization, { source, target: { space, changeRequest } })).data;
      expect(await ended(id)).toMatchObject({ status: 'completed', target: { space, changeRequest } });
      const tree = (await spaces.getRevisionOfChangeRequestById(space, changeRequest)).data;
      expect(tree.pages.map(({ title }) => title)).toEqual(['Uploaded']);
      const site: Server = createServer(() => undefined).listen(0, '127.0.0.1');
      await new Promise((resolve) => site.once('listening', resolve));
      const silent = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
      const other = { source: { type: 'website' as const, url: silent }, target: { space } };
      const running = (await org.startImportRun(organization, other)).data.id;
      expect((await org.cancelImportRun(organization, running)).data.status).toBe('cancelled');
      site.closeAllConnections();
      await new Promise((resolve) => site.close(resolve));
    });
  });
