import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Principal } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { type Directory, identityOf, type TestContent } from '../../testing.ts';

/** A page of a test website; a function answers by itself. */
export type TestPage = string | ((request: IncomingMessage, response: ServerResponse) => void);

/** A website on a port of its own. Pages may be changed while it runs. */
export const startSite = async (pages: Record<string, TestPage>) => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    const page = pages[path];
    if (typeof page === 'function') page(request, response);
    else if (page === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
export type TestSite = Awaited<ReturnType<typeof startSite>>;

/** The members that the tests of imports know. */
export const members: Directory = {
  o1: {
    'user-admin': { role: 'admin', teams: [] },
    'user-edit': { role: 'edit', teams: [] },
    'user-read': { role: 'read', teams: [] },
  },
};
export const identity = () => identityOf(members, []);

const params = (importRunId: string) => ({ organizationId: 'o1', importRunId });

/** Starts an import and gives its id. */
export const begin = async (content: TestContent, as: Principal, body: object): Promise<string> => {
  const started = await content.call('startImportRun', as, { params: { organizationId: 'o1' }, body });
  if (started.status !== 201) throw new Error(`the import was refused: ${JSON.stringify(started)}`);
  return started.body.id;
};

/** An import once it has ended. */
export const ended = async (content: TestContent, as: Principal, id: string) => {
  const get = () => content.call('getImportRun', as, { params: params(id) });
  await until('the import has ended', async () => !['pending', 'in-progress'].includes((await get()).body.status));
  return (await get()).body;
};

/** The markdown of a page at a path of the primary content. */
export const markdownAt = async (content: TestContent, as: Principal, spaceId: string, pagePath: string) => {
  const request = { params: { spaceId, pagePath }, query: { format: 'markdown' } };
  const { body } = await content.call('getPageByPath', as, request);
  return 'markdown' in body ? body.markdown : '';
};
