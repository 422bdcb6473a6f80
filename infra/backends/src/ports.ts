import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Where every back end listens: only this machine reaches it. */
export const HOST = '127.0.0.1';

/**
 * Below the ports that systems give to outgoing connections (32768 and more on Linux, 49152 elsewhere): otherwise, while a server is
 * down, a client that keeps trying its port may be given that very port, connect to itself, and the server cannot return.
 */
const LEAST = 10_240;
const MOST = 32_767;
const TRIES = 200;

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  const outcome = once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.listen(port, HOST);
  const free = await outcome;
  if (free) {
    server.close();
    await once(server, 'close');
  }
  return free;
};

/**
 * Different ports that nobody listens on now.
 * @param count how many
 * @throws Error when none are found
 */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries += 1) {
    if (tries === TRIES) throw new Error('this machine has no free port');
    const port = randomInt(LEAST, MOST + 1);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
};
