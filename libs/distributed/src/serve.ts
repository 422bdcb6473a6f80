import { createServer, type RequestListener } from 'node:http';
import type { Part } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** Told whether the process is ending: then it begins nothing new. */
  readonly listener: (ending: () => boolean) => RequestListener;
  readonly logger: Logger;
}

/** Callers that keep connections are told on their next request that this replica ends; the others are closed after so long. */
const lingerMs = 1000;
/** Longest that what is under way may take, in ms. */
const finishMs = 12_000;
/** Longer than callers keep an idle connection (undici: 4 s), so that they close first and no request is lost in between. */
const keepAliveMs = 65_000;

/** The listening part of a service's own process: what it has begun it finishes, new calls are left to other replicas. */
export const serve = (options: ServeOptions): Part => {
  let ending = false;
  const server = createServer(
    { keepAliveTimeout: keepAliveMs, headersTimeout: 10_000, requestTimeout: 120_000, noDelay: true },
    options.listener(() => ending),
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
      await new Promise((resolve) => setTimeout(resolve, lingerMs));
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => server.closeAllConnections(), finishMs);
        server.close(() => {
          clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
      });
    },
  };
};
