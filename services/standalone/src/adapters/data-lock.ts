import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another process uses the data directory. */
export class DataDirectoryInUse extends Error {
  readonly code = 'standalone.data_directory_in_use';
}

/** A data directory that belongs to this process until it is released or the process ends, however it ends. */
export interface DataLock {
  release(): void;
}

const busy = 5;

/**
 * Takes the data directory for this process. The lock is a transaction that stays open on a small database: the system
 * drops it with the process, so a kill leaves nothing to clean up, which a file with a process id would.
 * @throws DataDirectoryInUse
 */
export const lockDataDirectory = (dataDir: string): DataLock => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(dataDir, 'lock.db'), { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((Number(Object(error).errcode) & 0xff) !== busy) throw error;
    throw new DataDirectoryInUse(
      `the data directory ${dataDir} is in use by another process; stop it, or set DATA_DIR to another directory`,
      { cause: error },
    );
  }
  return { release: () => database.isOpen && database.close() };
};
