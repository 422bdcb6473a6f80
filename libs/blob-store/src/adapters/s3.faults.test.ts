import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { httpServers } from '@bindery/testing/http-servers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import type { BlobStore } from '../port.ts';
import { s3FromEnvironment, s3IsHere, s3Place } from './s3/place.testing.ts';
import { openS3BlobStore } from './s3.ts';

const unavailable = { code: 'blob_store.unavailable' };
const sha256 = 'a'.repeat(64);
const servers = httpServers();
afterEach(() => servers.close());

/** An HTTP server on a free port. @returns its address */
const serve = async (answer: RequestListener): Promise<string> => (await servers.listen(answer)).url;

const openAt = (endpoint: string): Promise<BlobStore> =>
  openS3BlobStore({
    ...{ endpoint, bucket: 'b', timeoutMs: 100, attempts: 2 },
    credentials: { accessKeyId: 'id', secretAccessKey: 'the-secret' },
  });

describe('a store that is not well', () => {
  test('is silent: opening and every call end in time', async () => {
    const begun = performance.now();
    const store = await openAt(await serve(() => undefined));
    for (const call of [store.stat(sha256), store.put(new Uint8Array(1), 1), store.delete(sha256)])
      await expect(call).rejects.toMatchObject(unavailable);
    await expect(store.get(sha256)).rejects.toMatchObject(unavailable);
    expect(performance.now() - begun).toBeLessThan(6000);
    await store.close();
  });

  test('answers 503, then answers: the call succeeds; a lasting 403 is tried once, and named without the secret', async () => {
    let asked = 0;
    const store = await openAt(
      await serve(({ method }, response) => {
        asked += method === 'HEAD' ? 1 : 0;
        response.writeHead(asked === 1 ? 503 : 200, { 'content-length': method === 'HEAD' ? 5 : 0 }).end();
      }),
    );
    expect(await store.stat(sha256)).toEqual({ size: 5 });
    expect(asked).toBe(2);
    await store.close();
    let refused = 0;
    const wrong = await openAt(
      await serve((_asked, response) => {
        refused += 1;
        response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
      }),
    );
    refused = 0;
    const failure = await wrong.stat(sha256).catch((error: unknown) => error);
    expect(failure).toMatchObject(unavailable);
    expect(refused).toBe(1);
    expect(String(Object(failure).cause)).not.toContain('the-secret');
    await wrong.close();
  });
});

type Fault = (asked: IncomingMessage) => 'none' | '500' | 'answer lost' | 'half';

/** A server in front of the real one that does what `fault` says. Signatures hold: they name the address we ask. */
const inFront = async (fault: () => Fault): Promise<string> => {
  const { endpoint } = s3FromEnvironment();
  return serve(async (asked, response) => {
    const what = fault()(asked);
    const chunks: Buffer[] = [];
    for await (const chunk of asked) chunks.push(chunk);
    if (what === '500') {
      response.writeHead(500).end('<Error><Code>InternalError</Code></Error>');
      return;
    }
    const { connection: _connection, 'content-length': _length, ...headers } = asked.headers;
    const method = (asked.method ?? 'GET') as 'GET';
    const sent = chunks.length > 0 || method !== 'GET' ? { body: Buffer.concat(chunks) } : {};
    const answer = await request(`${endpoint}${asked.url}`, {
      method,
      headers,
      ...(method === ('HEAD' as string) ? {} : sent),
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    if (what === 'answer lost') {
      response.destroy();
      return;
    }
    const { 'transfer-encoding': _encoding, connection: _kept, ...given } = answer.headers;
    response.writeHead(answer.statusCode, given);
    if (what === 'none') response.end(body);
    else response.write(body.subarray(0, body.byteLength >> 1), () => response.destroy());
  });
};

const withStore = s3IsHere ? describe : describe.skip;

withStore(
  s3IsHere ? 'a real store behind faults' : 'SKIPPED: a real store behind faults (S3_ENDPOINT is not set)',
  () => {
    const large = Buffer.alloc(12 * 1024 ** 2, 'part ');
    const partBytes = 5 * 1024 ** 2;
    const run = async (
      work: (context: {
        readonly store: BlobStore;
        readonly place: ReturnType<typeof s3Place>;
        readonly set: (fault: Fault) => void;
      }) => Promise<void>,
    ): Promise<void> => {
      let fault: Fault = () => 'none';
      const place = s3Place();
      const store = await place.open({ endpoint: await inFront(() => fault), partBytes });
      try {
        await work({
          ...{ store, place },
          set: (next) => {
            fault = next;
          },
        });
      } finally {
        await store.close();
        await place.dispose();
      }
    };
    /** The fault at the nth request that matches, else none. */
    const atNth = (nth: number, what: ReturnType<Fault>, matches: (asked: IncomingMessage) => boolean): Fault => {
      let seen = 0;
      return (asked) => {
        if (!matches(asked)) return 'none';
        seen += 1;
        return seen === nth ? what : 'none';
      };
    };
    const hash = createHash('sha256').update(large).digest('hex');

    test('a part fails for good: nothing is visible, nothing stays', () =>
      run(async ({ store, place, set }) => {
        set(({ url }) => (url?.includes('partNumber=3') ? '500' : 'none'));
        await expect(store.put(large, large.byteLength)).rejects.toMatchObject(unavailable);
        expect(await place.countStored()).toBe(0);
      }));

    test('the answer to the last step is lost: the blob is there, once', () =>
      run(async ({ store, place, set }) => {
        set(atNth(1, 'answer lost', ({ method, url }) => method === 'POST' && /uploadId=/.test(url ?? '')));
        expect(await store.put(large, large.byteLength)).toEqual({ sha256: hash, size: large.byteLength });
        expect([(await place.objects()).length, (await place.uploads()).length]).toEqual([1, 0]);
      }));

    test('a download breaks twice: the reader gets every byte once', () =>
      run(async ({ store, set }) => {
        await store.put(large, large.byteLength);
        let breaks = 2;
        set(({ method }) => (method === 'GET' && breaks-- > 0 ? 'half' : 'none'));
        const read = createHash('sha256');
        for await (const chunk of (await store.get(hash))?.body ?? []) read.update(chunk);
        expect(read.digest('hex')).toBe(hash);
        expect(breaks).toBeLessThan(0);
      }));

    test('other bytes under the name are noticed at the end', () =>
      run(async ({ store, place }) => {
        const { sha256: name } = await store.put(Buffer.from('the content'), 100);
        const body = Buffer.from('THE CONTENT');
        await place.admin.send({ method: 'PUT', key: `${place.prefix}${name}`, body });
        const drain = async (): Promise<void> => {
          for await (const chunk of (await store.get(name))?.body ?? []) expect(chunk.byteLength).toBeGreaterThan(0);
        };
        await expect(drain()).rejects.toMatchObject({ code: 'blob_store.damaged', sha256: name });
      }));
  },
);
