import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ended, freePort, residentBytes, startProcess } from './processes.ts';

import type { Running, StartOptions } from './running.ts';

export { ended, freePort, startProcess } from './processes.ts';
export type { Running, StartOptions } from './running.ts';

const main = fileURLToPath(new URL('../../../../services/standalone/src/main.ts', import.meta.url));

/** The profile that tests and benchmarks run on: `BINDERY_PROFILE`, embedded without it. */
export const testedProfile = (): 'embedded' | 'distributed' =>
  process.env.BINDERY_PROFILE === 'distributed' ? 'distributed' : 'embedded';

/**
 * Starts the product as a user would, on a data directory that is removed at the end unless it was given; on the
 * distributed profile where that is the one that is tested.
 */
export const startProduct = async (options: StartOptions = {}): Promise<Running> => {
  if (testedProfile() === 'distributed') {
    const { startDistributedProduct } = await import('../cluster/product.ts');
    return startDistributedProduct(options);
  }
  const port = await freePort();
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'bindery-bench-'));
  const token = options.token ?? `bnd_pat_${randomBytes(20).toString('hex')}`;
  const url = `http://127.0.0.1:${port}`;
  const { child, readyMs } = await startProcess(
    main,
    {
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      BINDERY_BOOTSTRAP_TOKEN: token,
      RATE_LIMIT_PER_MINUTE: '0',
      LOG_LEVEL: 'error',
      IMPORT_DOCS: 'false',
      ...options.env,
    },
    url,
    '/readyz',
  );
  return {
    url,
    token,
    dataDir,
    process: child,
    readyMs,
    memory: () => residentBytes(child.pid),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await ended(child);
      if (options.dataDir === undefined && signal === 'SIGTERM' && options.keep !== true)
        rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
