import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `BACKENDS_DIR`, else `.backends` in the checkout. */
export const stateFolder = (): string =>
  resolve(process.env.BACKENDS_DIR ?? join(fileURLToPath(new URL('../../..', import.meta.url)), '.backends'));
