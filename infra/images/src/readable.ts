import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes a tree readable by everybody. COPY keeps the modes of a checkout, which may be for its owner alone, and the process of an
 * image is not the owner of its files.
 */
export const makeReadable = (path: string): void => {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isSymbolicLink()) continue;
    if (entry.isDirectory()) makeReadable(child);
    else chmodSync(child, statSync(child).mode | 0o444);
  }
  chmodSync(path, statSync(path).mode | 0o555);
};
