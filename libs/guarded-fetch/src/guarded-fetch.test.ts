import { createServer, type RequestListener, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createGuardedFetch, type Fetched } from './guarded-fetch.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const serve = async (listener: RequestListener): Promise<number> => {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};
const textOf = async (fetched: Fetched): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of fetched.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};
const allowed = createGuardedFetch({ allow: ['good.test'], resolve: async () => ['127.0.0.1'] });

describe('guarded fetch', () => {
  test('gives the body and type of an allowed host, and sends its name', async () => {
    const port = await serve((request, response) => {
      response.setHeader('content-type', 'Text/Plain; charset=utf-8').end(`hello ${request.headers.host}`);
    });
    const fetched = await allowed(`http://good.test:${port}/a?b=c`);
    expect(fetched.contentType).toBe('text/plain');
    expect(await textOf(fetched)).toBe(`hello good.test:${port}`);
  });

  test('a name that resolves inside is refused, also when only one of its addresses is', async () => {
    let asked = 0;
    const port = await serve((_, response) => {
      asked += 1;
      response.end('secret');
    });
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::ffff:127.0.0.1']]) {
      const fetchIt = createGuardedFetch({ resolve: async () => addresses });
      await expect(fetchIt(`http://evil.test:${port}/`)).rejects.toMatchObject({ reason: 'blocked' });
    }
    expect(asked).toBe(0);
  });

  test('a name is resolved once per hop: what it resolves to afterwards does not matter', async () => {
    let resolutions = 0;
    const rebinding = createGuardedFetch({
      resolve: async () => {
        resolutions += 1;
        return resolutions === 1 ? ['127.0.0.1'] : ['93.184.216.34'];
      },
      allow: ['127.0.0.1'],
    });
    const port = await serve((_, response) => void response.end('first address'));
    expect(await textOf(await rebinding(`http://rebind.test:${port}/`))).toBe('first address');
    expect(resolutions).toBe(1);
  });

  test('a redirect to loopback is refused; one to an allowed host is followed', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/good') response.writeHead(302, { location: '/end' }).end();
      else if (request.url === '/end') response.end('arrived');
      else response.writeHead(302, { location: `http://127.0.0.1:${port}/end` }).end();
    });
    expect(await textOf(await allowed(`http://good.test:${port}/good`))).toBe('arrived');
    await expect(allowed(`http://good.test:${port}/evil`)).rejects.toMatchObject({ reason: 'blocked' });
  });

  test('a redirect to another scheme, and endless ones, are refused', async () => {
    const port = await serve((request, response) => {
      response.writeHead(302, { location: request.url === '/file' ? 'file:///etc/passwd' : '/again' }).end();
    });
    await expect(allowed(`http://good.test:${port}/file`)).rejects.toMatchObject({ reason: 'invalid-url' });
    await expect(allowed(`http://good.test:${port}/again`)).rejects.toMatchObject({ reason: 'too-many-redirects' });
  });

  test.each(['ftp://good.test/', 'file:///etc/passwd', 'http://user:pw@good.test/', 'nonsense', 'http://[::1', ''])(
    '%j is not a URL to fetch',
    async (url) => {
      await expect(allowed(url)).rejects.toMatchObject({ reason: 'invalid-url' });
    },
  );

  test('too large a body stops, announced or not', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', 2000).end(Buffer.alloc(2000));
      else {
        response.write(Buffer.alloc(600));
        response.end(Buffer.alloc(600));
      }
    });
    for (const path of ['announced', 'chunked']) {
      const fetched = await allowed(`http://good.test:${port}/${path}`, { maxBytes: 1000 });
      await expect(textOf(fetched)).rejects.toMatchObject({ reason: 'too-large' });
    }
  });

  test('a bomb counts as what it becomes', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024));
    const port = await serve((_, response) => {
      response.setHeader('content-encoding', 'gzip').end(bomb);
    });
    const fetched = await allowed(`http://good.test:${port}/`, { maxBytes: 1024 * 1024 });
    await expect(textOf(fetched)).rejects.toMatchObject({ reason: 'too-large' });
  });

  test('compressed answers are inflated, broken ones refused', async () => {
    const port = await serve((request, response) => {
      response.setHeader('content-encoding', 'gzip').end(request.url === '/ok' ? gzipSync('text') : 'not gzip');
    });
    expect(await textOf(await allowed(`http://good.test:${port}/ok`))).toBe('text');
    await expect(textOf(await allowed(`http://good.test:${port}/no`))).rejects.toMatchObject({ reason: 'unreachable' });
  });

  test('one deadline covers silence, dripping bodies and slow resolvers', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/drip') response.write('a');
    });
    const slow = { reason: 'timeout' };
    await expect(allowed(`http://good.test:${port}/silent`, { timeoutMs: 50 })).rejects.toMatchObject(slow);
    const dripping = await allowed(`http://good.test:${port}/drip`, { timeoutMs: 500 });
    await expect(textOf(dripping)).rejects.toMatchObject(slow);
    const stuck = createGuardedFetch({ resolve: () => new Promise(() => undefined) });
    await expect(stuck('http://good.test/', { timeoutMs: 50 })).rejects.toMatchObject(slow);
  });

  test('errors and unknown hosts are told without addresses', async () => {
    const port = await serve((_, response) => void response.writeHead(404).end());
    await expect(allowed(`http://good.test:${port}/`)).rejects.toMatchObject({ reason: 'bad-status' });
    const none = createGuardedFetch({ resolve: async () => [] });
    await expect(none('http://nowhere.test/')).rejects.toMatchObject({ reason: 'unreachable' });
    const refused = createGuardedFetch({ resolve: async () => ['127.0.0.1'], allow: ['gone.test'] });
    await expect(refused('http://gone.test:1/')).rejects.toMatchObject({ reason: 'unreachable' });
  });
});
