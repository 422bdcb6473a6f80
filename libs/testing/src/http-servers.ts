import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

/** What the tests of a file have open; the file closes it with `afterEach(() => servers.close())`. */
export interface HttpServers {
  /** Starts a server on a free port of this machine. */
  listen(listener: RequestListener): Promise<{ readonly url: string; readonly server: Server }>;
  /** Has something closed with the servers; what was opened last is closed first. */
  closing(close: () => Promise<unknown> | unknown): void;
  /** Ends servers with their connections, and whatever else was opened. */
  close(): Promise<void>;
}

/** HTTP servers for the tests of one file. */
export const httpServers = (): HttpServers => {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  return {
    async listen(listener) {
      const server = createServer(listener).listen(0, '127.0.0.1');
      await once(server, 'listening');
      closers.push(() => {
        server.close();
        server.closeAllConnections();
      });
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      return { url: `http://127.0.0.1:${address.port}`, server };
    },
    closing: (close) => void closers.push(close),
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
};
