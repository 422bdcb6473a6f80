import { createRequire } from 'node:module';
import { clearTimeout, setTimeout } from 'node:timers';

/** What of the driver's pool of connections is touched here. */
interface ConnectionPool {
  readonly options: { readonly minPoolSize: number };
  readonly poolState: string;
  minPoolSizeTimer: NodeJS.Timeout | undefined;
  ensureMinPoolSize(): void;
}

/** How often idle connections are looked for, in ms: they may be idle for a minute. */
const CHECK_MS = 5000;

let applied = false;

/**
 * Version 7 of the driver looks 10 times a second, for ever and for each pool, whether connections are too few, also where
 * none have to be there, and drops those that were idle for too long at that; how often cannot be set. Where none have to be
 * there it looks every few seconds here.
 */
export const applyLibraryFixes = (): void => {
  if (applied) return;
  applied = true;
  const load = createRequire(import.meta.url);
  const { prototype } = (
    load('mongodb/lib/cmap/connection_pool.js') as { readonly ConnectionPool: { readonly prototype: ConnectionPool } }
  ).ConnectionPool;
  const { ensureMinPoolSize } = prototype;
  prototype.ensureMinPoolSize = function ensureMinPoolSizeSeldom(this: ConnectionPool): void {
    ensureMinPoolSize.call(this);
    if (this.options.minPoolSize > 0 || this.poolState !== 'ready') return;
    clearTimeout(this.minPoolSizeTimer);
    this.minPoolSizeTimer = setTimeout(() => this.ensureMinPoolSize(), CHECK_MS);
  };
};
