import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpServers } from '@bindery/testing/http-servers';
import { afterEach, expect, test } from '@jest/globals';
import type { BlobStore } from '../port.ts';
import { openS3BlobStore } from './s3.ts';

const content = Buffer.from('0123456789'.repeat(20_000));
const sha256 = createHash('sha256').update(content).digest('hex');
const servers = httpServers();
afterEach(() => servers.close());

const storeAt = async (answer: (asked: IncomingMessage, response: ServerResponse) => void): Promise<BlobStore> => {
  const { url: endpoint } = await servers.listen(answer);
  return openS3BlobStore({
    ...{
      endpoint,
      bucket: 'b',
      timeoutMs: 5000,
    },
    credentials: { accessKeyId: 'id', secretAccessKey: 'the-secret' },
  });
};

const read = async (store: BlobStore, range?: { readonly start: number; readonly end: number }): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of (await store.get(sha256, range))?.body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const head = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': content.length }).end();
};

test('a store that knows no ranges: the bytes that were asked for come, also after a break', async () => {
  let gets = 0;
  const store = await storeAt(({ method, url }, response) => {
    if (method === 'HEAD') {
      head(response);
      return;
    }
    if (!url?.includes(sha256)) {
      response.writeHead(200).end();
      return;
    }
    gets += 1;
    response.writeHead(200, { 'content-length': content.length });
    // The second answer breaks off in the middle.
    if (gets === 2) response.write(content.subarray(0, content.length >> 1), () => response.destroy());
    else response.end(content);
  });
  expect(await read(store, { start: 12_345, end: 12_350 })).toBe('567890');
  expect(await read(store)).toBe(content.toString());
  expect(gets).toBe(3);
  await store.close();
});

test('an answer that does not tell which bytes it has, or has later ones, is none', async () => {
  for (const headers of [{}, { 'content-range': `bytes 20-29/${content.length}` }]) {
    const store = await storeAt(({ method }, response) => {
      if (method === 'HEAD') head(response);
      else response.writeHead(206, headers).end('0123456789');
    });
    await expect(read(store, { start: 10, end: 19 })).rejects.toMatchObject({ code: 'blob_store.unavailable' });
    await store.close();
  }
});

test('an object whose size is not told is not taken for one of no size', async () => {
  const store = await storeAt((_asked, response) => response.writeHead(200, { 'transfer-encoding': 'chunked' }).end());
  await expect(store.stat(sha256)).rejects.toMatchObject({ code: 'blob_store.unavailable' });
  await store.close();
});

const signedAt = (headers: IncomingMessage['headers']): number => {
  const [, year, month, day, hour, minute] = /^(....)(..)(..)T(..)(..)/.exec(String(headers['x-amz-date'])) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`);
};

test('a store whose clock is hours away is asked by its own clock from then on', async () => {
  const skewed = Date.now() + 5 * 3_600_000;
  let refusals = 0;
  const store = await storeAt(({ method, headers }, response) => {
    response.setHeader('date', new Date(skewed).toUTCString());
    // Asked by HEAD alone, whose answer cannot name the reason.
    if (method !== 'HEAD') response.writeHead(200).end();
    else if (Math.abs(signedAt(headers) - skewed) < 900_000) head(response);
    else {
      refusals += 1;
      response.writeHead(403).end();
    }
  });
  expect(await store.stat(sha256)).toEqual({ size: content.length });
  expect(refusals).toBe(1);
  await store.close();
});

test('many that are refused at once for their clock learn it once', async () => {
  const skewed = Date.now() + 5 * 3_600_000;
  let heads = 0;
  let seen: () => void = () => undefined;
  const allThere = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const store = await storeAt(async ({ method, headers }, response) => {
    response.setHeader('date', new Date(skewed).toUTCString());
    if (method !== 'HEAD') {
      response.writeHead(200).end();
      return;
    }
    heads += 1;
    if (heads === 8) seen();
    if (Math.abs(signedAt(headers) - skewed) < 900_000) head(response);
    else {
      await allThere;
      response.writeHead(403).end();
    }
  });
  const sizes = await Promise.all(Array.from({ length: 8 }, () => store.stat(sha256)));
  expect(sizes).toEqual(sizes.map(() => ({ size: content.length })));
  expect(heads).toBe(16);
  await store.close();
});

test('a clock that something in between has told does not stay', async () => {
  const other = Date.now() + 5 * 3_600_000;
  const said: number[] = [];
  const store = await storeAt(({ method, headers }, response) => {
    response.setHeader('date', new Date(other).toUTCString());
    if (method !== 'HEAD') {
      response.writeHead(200).end();
      return;
    }
    // The first one is refused for another reason, which HEAD cannot name.
    const isOurs = Math.abs(signedAt(headers) - Date.now()) < 900_000;
    said.push(said.length === 0 || !isOurs ? 403 : 200);
    if (said.at(-1) === 200) head(response);
    else response.writeHead(403).end();
  });
  await store.stat(sha256).catch(() => undefined);
  expect(await store.stat(sha256)).toEqual({ size: content.length });
  expect(said.slice(0, 2)).toEqual([403, 403]);
  await store.close();
});

test('a long last step of an upload gets the time that its bytes need', async () => {
  let finished = false;
  const parts = Buffer.alloc(6 * 1024 ** 2, 'x');
  const { url: endpoint } = await servers.listen((asked, response) => {
    asked.resume().on('end', () => {
      if (asked.method === 'HEAD') response.writeHead(404).end();
      else if (asked.method === 'PUT') response.writeHead(200, { etag: '"t"' }).end();
      else if (asked.url?.includes('uploads')) response.end('<UploadId>u</UploadId>');
      // Longer than any other answer may take.
      else
        setTimeout(() => {
          finished = true;
          response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
        }, 1200);
    });
  });
  const store = await openS3BlobStore({
    ...{
      endpoint,
      bucket: 'b',
      timeoutMs: 1000,
    },
    ...{ attempts: 1, partBytes: 5 * 1024 ** 2 },
    credentials: { accessKeyId: 'id', secretAccessKey: 'the-secret' },
  });
  await store.put(parts, parts.length);
  expect(finished).toBe(true);
  await store.close();
});
