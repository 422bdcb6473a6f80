import { createServer, type Server } from 'node:http';
import { createGuardedFetch } from '@bindery/guarded-fetch';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { baseUrl, edit, member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const reader = member('read');
let content: TestContent;
let space: string;
let origin: Server;
let downloads: Server;
let originUrl: string;
let downloadsUrl: string;

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
};
const text = (name: string, body = name) => ({
  name,
  contentType: 'text/plain',
  base64: Buffer.from(body).toString('base64'),
});
const insert = (...files: readonly object[]) => ({ operation: 'insert_files', files });

beforeAll(async () => {
  origin = createServer((_, response) => void response.setHeader('content-type', 'text/plain').end('from afar'));
  originUrl = await listen(origin);
  content = await startContent({
    fetchGuard: createGuardedFetch({ allow: ['allowed.test'], resolve: async () => ['127.0.0.1'] }),
  });
  downloads = createServer((request, response) => {
    const route = content.service.rawRoutes.find(({ path }) => path.startsWith('/~files/'));
    void route?.handle(request, response);
  });
  downloadsUrl = await listen(downloads);
  space = await openSpace(content, admin);
  await publish(content, admin, space, [insert(...Array.from({ length: 5 }, (_, at) => text(`f${at}.txt`)))]);
});
afterAll(async () => {
  for (const server of [origin, downloads]) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await content.stop();
});

const list = async (query: object = {}) =>
  (await content.call('listFiles', reader, { params: { spaceId: space }, query: { ...query } })).body;

describe('files', () => {
  test('are listed in pages, each once', async () => {
    const all = await list();
    expect(all.count).toBe(5);
    expect(all.items.map(({ name }) => name).sort()).toEqual(['f0.txt', 'f1.txt', 'f2.txt', 'f3.txt', 'f4.txt']);
    const names: string[] = [];
    let page: string | undefined;
    do {
      const part = await list({ limit: 2, ...(page ? { page } : {}) });
      names.push(...part.items.map(({ name }) => name));
      page = part.next?.page;
    } while (page);
    expect(names).toEqual(all.items.map(({ name }) => name));
    expect(await list({ limit: 0 })).toEqual({ count: 5, items: [] });
  });

  test('are the same by id, in the revision and in the list; their address gives the bytes', async () => {
    const [first] = (await list()).items;
    const params = { spaceId: space, fileId: first?.id ?? '' };
    expect((await content.call('getFileById', reader, { params })).body).toEqual(first);
    const { body } = await content.call('getCurrentRevision', reader, { params: { spaceId: space } });
    expect(body.files.find(({ id }) => id === first?.id)).toEqual(first);
    const inRevision = { ...params, revisionId: body.id };
    expect((await content.call('getFileInRevisionById', reader, { params: inRevision })).body).toEqual(first);
    const response = await fetch((first?.downloadURL ?? '').replace(baseUrl, downloadsUrl));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(first?.name);
  });

  test('of a change request are there and nowhere else', async () => {
    const changeRequestId = await edit(content, admin, space, [insert(text('draft.txt'))]);
    const branch = { spaceId: space, changeRequestId };
    const { body } = await content.call('listFilesInChangeRequestById', reader, { params: branch });
    expect(body.count).toBe(6);
    const draft = body.items.find(({ name }) => name === 'draft.txt');
    const params = { ...branch, fileId: draft?.id ?? '' };
    expect((await content.call('getFileInChangeRequestById', reader, { params })).body).toEqual(draft);
    const inSpace = { spaceId: space, fileId: draft?.id ?? '' };
    expect((await content.call('getFileById', reader, { params: inSpace })).status).toBe(404);
    const cursor = (await list({ limit: 2 })).next?.page;
    const other = await content.call('listFilesInChangeRequestById', reader, {
      params: branch,
      query: { page: cursor },
    });
    expect(other).toMatchObject({ status: 400, code: 'cursor.invalid' });
  });

  test('are fetched from afar, but not from inside', async () => {
    const url = originUrl.replace('127.0.0.1', 'allowed.test');
    await publish(content, admin, space, [insert({ name: 'afar.txt', url })]);
    const afar = (await list()).items.find(({ name }) => name === 'afar.txt');
    expect(afar).toMatchObject({ size: 9, contentType: 'text/plain' });

    const opened = await content.call('createChangeRequest', admin, { params: { spaceId: space }, body: {} });
    const params = { spaceId: space, changeRequestId: opened.body.id };
    const before = (await content.call('getChangeRequestById', admin, { params })).body.revision;
    for (const inside of [originUrl, url.replace('allowed.test', 'other.test'), url.replace('allowed.test', '[::1]')]) {
      const body = { changes: [insert(text('fine.txt'), { name: 'inside.txt', url: inside })] };
      const refused = await content.call('updateChangeRequestContent', admin, { params, body });
      expect(refused).toMatchObject({ status: 400, code: 'file.fetch_blocked' });
    }
    // Nothing of a refused batch is there.
    expect((await content.call('getChangeRequestById', admin, { params })).body.revision).toBe(before);
  });

  test('end with their space', async () => {
    const own = await openSpace(content, admin);
    await publish(content, admin, own, [insert(text('a.txt'))]);
    const { body } = await content.call('listFiles', admin, { params: { spaceId: own } });
    const url = (body.items[0]?.downloadURL ?? '').replace(baseUrl, downloadsUrl);
    expect((await fetch(url)).status).toBe(200);
    await content.call('deleteSpaceById', admin, { params: { spaceId: own } });
    expect((await fetch(url)).status).toBe(404);
    await content.call('restoreSpace', admin, { params: { spaceId: own } });
    expect((await fetch(url)).status).toBe(200);
  });
});
