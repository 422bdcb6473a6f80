import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** Whether this machine can start a server of its own. */
export const redisIsHere = spawnSync('redis-server', ['--version']).status === 0;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
};

/** A server to be stopped, killed and frozen. It keeps nothing. */
export class RedisServer {
  readonly url: string;
  readonly port: number;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string) {
    this.port = port;
    this.#folder = folder;
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'bindery-redis-')));
    await server.start();
    return server;
  }

  /** On the same port as before, empty. */
  async start(...options: readonly string[]): Promise<void> {
    const own = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#folder];
    const child = spawn('redis-server', [...own, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    let output = '';
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      output += String(chunk);
      if (output.includes('Ready to accept connections')) break;
    }
    child.stdout.resume();
    if (!output.includes('Ready to accept connections')) throw new Error(`redis-server: ${output}`);
  }

  /** Gives it a command by a connection of its own. */
  async tell(...command: readonly [string, ...string[]]): Promise<unknown> {
    const client = new Redis(this.url);
    try {
      return await client.call(...command);
    } finally {
      client.disconnect();
    }
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async dispose(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true });
  }
}
