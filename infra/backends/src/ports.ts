import { once } from 'node:events';
import { createServer } from 'node:net';

/** Where every back end listens: only this machine reaches it. */
export const HOST = '127.0.0.1';

/**
 * Ports that nobody listens on now. They are held open until all are found, so that they differ.
 * @param count how many
 */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = [];
  const ports: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const server = createServer();
    server.listen(0, HOST);
    await once(server, 'listening');
    servers.push(server);
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('a TCP server has no port');
    ports.push(address.port);
  }
  await Promise.all(
    servers.map(async (server) => {
      server.close();
      await once(server, 'close');
    }),
  );
  return ports;
};
