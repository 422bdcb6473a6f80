import { createServer, type RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Part } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Told whether the process is ending: then it begins nothing new. */
  readonly listener: (ending: () => boolean) => RequestListener;
  readonly logger: Logger;
}

/** Least time in which callers that keep connections hear on their next request that this replica ends, in ms. */
const lingerMs = 2000;
/** Longest that what is under way may take, in ms. */
const finishMs = 10_000;
/** Longer than callers keep an idle connection (30 s), so that they close first and no request is lost in between. */
const keepAliveMs = 65_000;

/**
 * The listening part of a service's own process: what it has begun it finishes, new calls are left to other replicas. It goes on
 * to say so until the process exits: a connection that is closed before that may be in use at that very moment, and whether a
 * request that was lost with it had begun is not known to anybody.
 */
export const serve = (options: ServeOptions): Part => {
  let ending = false;
  let underWay = 0;
  let finished: () => void = () => undefined;
  const listener = options.listener(() => ending);
  const over = (): void => {
    underWay -= 1;
    if (ending && underWay === 0) finished();
  };
  const server = createServer(
    {
      ...{ keepAliveTimeout: keepAliveMs, headersTimeout: 10_000, requestTimeout: 120_000, noDelay: true },
      // What has no body, downloads for instance, is no stream that has to be read to its end.
      optimizeEmptyRequests: true,
    },
    (request, response) => {
      if (!ending) {
        underWay += 1;
        response.on('close', over);
      }
      listener(request, response);
    },
  );
  return {
    name: 'listening',
    stopWithinMs: lingerMs + finishMs + 1000,
    start: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(options.port, options.host, () => {
          server.off('error', reject);
          const address = server.address();
          const port = typeof address === 'object' && address ? address.port : options.port;
          options.logger.info('listens', { host: options.host, port });
          resolve();
        });
      }),
    async stop() {
      ending = true;
      server.unref();
      await delay(lingerMs);
      if (underWay === 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), finishMs);
        finished = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
};
