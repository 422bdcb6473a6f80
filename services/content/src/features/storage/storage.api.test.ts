import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { EventStoreUnavailable } from '@bindery/event-store';
import { isProblem } from '@bindery/service-kit';
import { until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { baseUrl, edit, member, openSpace, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');
const editor = member('edit');

let content: TestContent;
let gateway: Server;
let port: number;

beforeAll(async () => {
  content = await startContent({ transfers: { uploadPurgeMs: 20 } });
  gateway = createServer((request, response) => {
    const route = content.service.rawRoutes.find(({ method }) => method === 'PUT');
    route?.handle(request, response).catch((error: unknown) => {
      response.writeHead(isProblem(error) ? 400 : 500).end(isProblem(error) ? error.code : String(error));
    });
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  const address = gateway.address();
  port = typeof address === 'object' && address ? address.port : 0;
});
afterAll(async () => {
  gateway.closeAllConnections();
  await new Promise((resolve) => gateway.close(resolve));
  await content.stop();
});

const ask = async (file: { name: string; type: string; size: number }, kind = 'organization_file', as = editor) =>
  content.call('generateStorageUploadURL', as, { params: { organizationId: 'o1' }, body: { file, kind } });
const text = (body: string, type = 'text/plain') => ({ name: 'a.txt', type, size: Buffer.byteLength(body) });
const put = async (url: string, body: string | Uint8Array<ArrayBuffer>): Promise<string> => {
  const answer = await fetch(url.replace(baseUrl, `http://127.0.0.1:${port}`), { method: 'PUT', body });
  return answer.status === 204 ? 'stored' : answer.text();
};
const blobsThere = async (): Promise<number> => {
  const { readdir } = await import('node:fs/promises');
  const files = await readdir(`${content.ports.folder}/blobs`, { recursive: true, withFileTypes: true });
  return files.filter((entry) => entry.isFile()).length;
};

describe('uploads', () => {
  test('a file is uploaded once and inserted by its address, by whoever uploaded it', async () => {
    const asked = await ask(text('hello'));
    expect(asked).toMatchObject({ status: 201, body: { object: 'storage-signed-url' } });
    const { url, key } = asked.body;
    const space = await openSpace(content, admin);
    const insert = { operation: 'insert_files', files: [{ url, name: 'a.txt' }] };
    await expect(edit(content, editor, space, [insert])).rejects.toThrow('no such upload');
    expect(await put(url, 'hello')).toBe('stored');
    expect(await put(url, 'hello')).toBe('storage.used');
    await expect(edit(content, admin, space, [insert])).rejects.toThrow('no such upload');
    const foreign = { operation: 'insert_files', files: [{ url: url.replace(key, 'x1'), name: 'a.txt' }] };
    await expect(edit(content, editor, space, [foreign])).rejects.toThrow('no such upload');
    const changeRequestId = await edit(content, editor, space, [insert]);
    const params = { spaceId: space, changeRequestId };
    const files = await content.call('listFilesInChangeRequestById', editor, { params });
    expect(files.body.items).toMatchObject([{ name: 'a.txt', contentType: 'text/plain', size: 5 }]);
  });

  test('what is not as announced is refused, and its bytes are not kept', async () => {
    const before = await blobsThere();
    const { url } = (await ask(text('hello'))).body;
    expect(await put(url, 'hell')).toBe('storage.wrong_size');
    expect(await put(url, 'hello!')).toBe('storage.wrong_size');
    const chunked = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < 3; at += 1) controller.enqueue(Buffer.from('hello'));
        controller.close();
      },
    });
    const request = { method: 'PUT', body: chunked, duplex: 'half' } as const;
    const streamed = await fetch(url.replace(baseUrl, `http://127.0.0.1:${port}`), request);
    expect(await streamed.text()).toBe('storage.wrong_size');
    const png = (await ask({ name: 'a.png', type: 'image/png', size: 5 })).body.url;
    expect(await put(png, 'hello')).toBe('file.content_type_mismatch');
    const markdown = (await ask({ name: 'a.md', type: 'text/markdown', size: 5 }, 'import_file')).body.url;
    expect(await put(markdown, '%PDF-')).toBe('file.content_type_mismatch');
    expect(await put(url.replace('token=', 'token=x').slice(0, -1), 'hello')).toBe('storage.unknown');
    expect(await blobsThere()).toBe(before);
    // It is still good for the right bytes.
    expect(await put(url, 'hello')).toBe('stored');
  });

  test('two at once: one is kept', async () => {
    const { url } = (await ask(text('twice'))).body;
    const before = await blobsThere();
    const came = await Promise.all([put(url, 'twice'), put(url, 'twice'), put(url, 'twice')]);
    expect(came.sort()).toEqual(['storage.used', 'storage.used', 'stored']);
    expect(await blobsThere()).toBe(before + 1);
  });

  test('an upload of which nobody knows whether it was recorded keeps its bytes', async () => {
    const { url } = (await ask(text('hello'))).body;
    const { eventStore } = content.ports;
    const append = eventStore.append.bind(eventStore);
    // Written, but every answer is lost.
    eventStore.append = async (...args) => {
      await append(...args);
      throw new EventStoreUnavailable('the answer is lost');
    };
    try {
      expect(await put(url, 'hello')).toBe('event_store.unavailable');
    } finally {
      eventStore.append = append;
    }
    const space = await openSpace(content, admin);
    const insert = { operation: 'insert_files', files: [{ url, name: 'a.txt' }] };
    await expect(edit(content, editor, space, [insert])).resolves.toBeDefined();
  });

  test('a caller that goes away leaves nothing behind', async () => {
    const before = await blobsThere();
    const { url } = (await ask(text('a longer text'))).body;
    const socket = connect(port, '127.0.0.1');
    const target = url.slice(baseUrl.length);
    socket.write(`PUT ${target} HTTP/1.1\r\nhost: a\r\ncontent-length: 13\r\n\r\na lon`, () => socket.destroy());
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await put(url, 'a longer text')).toBe('stored');
    expect(await blobsThere()).toBe(before + 1);
  });

  test.each([
    ['a size beyond the kind', { name: 'a', type: 'font/woff2', size: 5_000_001 }, 'customization_font'],
    ['a type that the kind does not take', { name: 'a', type: 'image/png', size: 1 }, 'customization_font'],
    ['a program to import', { name: 'a', type: 'application/javascript', size: 1 }, 'import_file'],
    ['no media type', { name: 'a', type: 'nonsense', size: 1 }, 'organization_file'],
    ['no name', { name: '..', type: 'text/plain', size: 1 }, 'organization_file'],
    ['nothing', { name: 'a', type: 'text/plain', size: 0 }, 'organization_file'],
    ['more than anything', { name: 'a', type: 'text/plain', size: 1e12 }, 'organization_file'],
    ['another kind', { name: 'a', type: 'text/plain', size: 1 }, 'secret'],
  ])('is refused at once: %s', async (_name, file, kind) => {
    expect((await ask(file, kind)).status).toBe(400);
  });

  test('who may not edit is refused, and nobody has more than so many', async () => {
    expect((await ask(text('a'), 'organization_file', member(undefined))).status).toBe(404);
    for (const role of [null, 'read', 'comment'] as const)
      expect(await ask(text('a'), 'organization_file', member(role))).toMatchObject({
        status: 403,
        code: 'organization.edit_needed',
      });
    const greedy = member('edit', 'greedy');
    const many = await Promise.all(Array.from({ length: 50 }, () => ask(text('a'), 'organization_file', greedy)));
    expect(many.every(({ status }) => status === 201)).toBe(true);
    expect(await ask(text('a'), 'organization_file', greedy)).toMatchObject({ status: 400, code: 'storage.too_many' });
  });

  test('addresses end, and so do uploads, and what used them stays', async () => {
    const late = (await ask(text('late'))).body.url;
    content.ports.clock.advance(15 * 60_000);
    expect(await put(late, 'late')).toBe('storage.expired');
    content.ports.clock.advance(24 * 3_600_000);
    await until('uploads are purged', async () => (await blobsThere()) === 1);
    await content.settled();
    expect((await content.service.rebuild()).events).toBeGreaterThan(0);
    expect((await ask(text('again'), 'organization_file', member('edit', 'greedy'))).status).toBe(201);
  });
});
