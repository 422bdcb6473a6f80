import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { engineFor } from './engines/index.ts';
import { BACKEND_NAMES, formatEnv, freePorts, HOST, parseEnv, startProxy, type TcpProxy } from './index.ts';
import { kafkaMetadataRequest, mongoGreeting } from './probes.ts';
import { endProcess, freeze, isRunning, launchDetached, sendSignal, untilEnded } from './processes.ts';
import { waitUntil } from './wait.ts';

/** However it ends: `once` would fail on the reset that is expected here. */
const untilClosed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('close', () => resolve());
  });

describe('the environment file', () => {
  test('gives back what was written, with quotes, spaces and signs of the shell', () => {
    const variables = { S3_ENDPOINT: 'http://127.0.0.1:1', A: "it's $HOME", B: '', C2: 'a=b' };
    expect(parseEnv(formatEnv(variables))).toEqual(variables);
  });
  test('refuses a line that is no variable', () => {
    expect(() => parseEnv('export A=1\n')).toThrow('not a variable: export A=1');
  });
});

describe('what clients are told', () => {
  const context = { folder: '/f', dataFolder: '/f/data', ports: [1001, 1002, 1003, 1004], say: () => {} };
  test('each back end gives the variables of the configuration', () => {
    expect(Object.assign({}, ...BACKEND_NAMES.map((name) => engineFor(name).environment(context)))).toEqual({
      EVENTSTORE_URL: 'esdb://127.0.0.1:1001?tls=false',
      KAFKA_BROKERS: '127.0.0.1:1001',
      KAFKA_PROXY_LISTEN: '127.0.0.1:1004',
      KAFKA_PROXY_TARGET: '127.0.0.1:1003',
      MONGODB_URL: 'mongodb://127.0.0.1:1001/',
      REDIS_URL: 'redis://127.0.0.1:1001',
      S3_ENDPOINT: 'http://127.0.0.1:1001',
      S3_REGION: 'us-east-1',
      S3_ACCESS_KEY_ID: 'bindery-backends',
      S3_SECRET_ACCESS_KEY: 'bindery-backends-secret',
      S3_BUCKET: 'bindery',
    });
  });
  test('another server of the same protocol has the same address', () => {
    expect(engineFor('mongodb', 'ferretdb').environment(context)).toEqual(engineFor('mongodb').environment(context));
  });
});

describe('probes', () => {
  test('the Kafka probe is a Metadata request, version 1, for no topic', () => {
    expect(kafkaMetadataRequest().toString('hex')).toBe(
      `0000001b00030001${'00000001'}${'000d'}${Buffer.from('bindery-probe').toString('hex')}${'00000000'}`,
    );
  });
  test('the MongoDB probe is one OP_MSG whose lengths are right', () => {
    const message = mongoGreeting();
    expect(message.readInt32LE(0)).toBe(message.length);
    expect(message.readInt32LE(12)).toBe(2013);
    expect(message.readInt32LE(21)).toBe(message.length - 21);
  });
});

describe('a process apart', () => {
  test('runs, stands still, goes on, and ends when told to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-backends-'));
    const logFile = join(folder, 'log');
    const script =
      'process.on("SIGTERM",()=>{console.log("bye");process.exit()});console.log("here");setInterval(()=>{},1e6)';
    const launched = await launchDetached({ command: process.execPath, args: ['-e', script], cwd: folder, logFile });
    await waitUntil(async () => (await readFile(logFile, 'utf8')).includes('here'), {
      what: 'it writes',
      deadlineMs: 10_000,
    });
    expect(isRunning(launched)).toBe(true);
    expect(isRunning({ ...launched, startedAt: `${launched.startedAt}1` })).toBe(process.platform !== 'linux');
    await freeze(launched);
    sendSignal(launched, 'SIGCONT');
    await endProcess(launched, 10_000);
    await untilEnded(launched, 1);
    expect(await readFile(logFile, 'utf8')).toBe('here\nbye\n');
    await rm(folder, { recursive: true });
  });
  test('that cannot be started says so', async () => {
    const logFile = join(tmpdir(), `bindery-backends-${process.pid}-log`);
    await expect(launchDetached({ command: '/no/such/program', args: [], cwd: '/', logFile })).rejects.toThrow(
      'ENOENT',
    );
    await rm(logFile);
  });
});

describe('waiting', () => {
  test('names what was waited for, and the last error', async () => {
    const never = (): Promise<boolean> => Promise.reject(new Error('refused'));
    await expect(waitUntil(never, { what: 'kafka is ready', deadlineMs: 1 })).rejects.toThrow(
      'kafka is ready: not after 1 ms: refused',
    );
  });
  test('ends at once when it is hopeless', async () => {
    const wait = waitUntil(() => Promise.resolve(false), {
      what: 'x',
      deadlineMs: 60_000,
      hopeless: () => 'it has ended',
    });
    await expect(wait).rejects.toThrow('x: it has ended');
  });
});

describe('the proxy', () => {
  const open: { proxy?: TcpProxy; close?: () => Promise<void> } = {};
  afterEach(async () => {
    await open.proxy?.close();
    await open.close?.();
  });

  /** A server that answers each byte `x` by ten bytes, a proxy before it, and a client. */
  const setUp = async (): Promise<{ proxy: TcpProxy; client: Socket; read: (count: number) => Promise<string> }> => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('data', (bytes) => socket.write('0123456789'.repeat(bytes.length)));
    });
    const [targetPort = 0] = await freePorts(1);
    server.listen(targetPort, HOST);
    await once(server, 'listening');
    const proxy = await startProxy({ targetPort });
    open.proxy = proxy;
    open.close = async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    };
    const client = connect(proxy.port, HOST);
    client.on('error', () => {});
    await once(client, 'connect');
    let received = '';
    let wake = (): void => {};
    client.setEncoding('utf8').on('data', (text) => {
      received += text;
      wake();
    });
    client.on('close', () => wake());
    const read = async (count: number): Promise<string> => {
      while (received.length < count && !client.destroyed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return received;
    };
    return { proxy, client, read };
  };

  test('passes bytes both ways', async () => {
    const { proxy, client, read } = await setUp();
    client.write('x');
    expect(await read(10)).toBe('0123456789');
    expect(proxy.connections).toBe(1);
    expect(proxy.connectionsTaken).toBe(1);
  });

  test('slow: each direction takes its time', async () => {
    const { proxy, client, read } = await setUp();
    proxy.setFault({ kind: 'slow', latencyMs: 30 });
    const begun = performance.now();
    client.write('x');
    await read(10);
    expect(performance.now() - begun).toBeGreaterThan(55);
  });

  test('half: half of an answer, then the end', async () => {
    const { proxy, client, read } = await setUp();
    proxy.setFault({ kind: 'half' });
    client.write('x');
    expect(await read(10)).toBe('01234');
    expect(client.destroyed).toBe(true);
  });

  test('silent: connected, nothing passes until it heals', async () => {
    const { proxy, client, read } = await setUp();
    proxy.setFault({ kind: 'silent' });
    client.write('x');
    const second = connect(proxy.port, HOST);
    await once(second, 'connect');
    second.destroy();
    expect(client.bytesRead).toBe(0);
    proxy.heal();
    expect(await read(10)).toBe('0123456789');
  });

  test('cut: open connections and new ones are reset; healed, they pass', async () => {
    const { proxy, client } = await setUp();
    const closed = untilClosed(client);
    proxy.setFault({ kind: 'cut' });
    await closed;
    const refused = connect(proxy.port, HOST);
    refused.on('error', () => {});
    await untilClosed(refused);
    proxy.heal();
    const again = connect(proxy.port, HOST);
    again.write('x');
    expect(String((await once(again, 'data'))[0])).toBe('0123456789');
    again.destroy();
  });
});
