import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ownerOnly = 0o600;

/** The text of a file without surrounding space; undefined when there is no file. */
export const readPrivateFile = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Writes a file that only its owner can read: whole or not at all, and on disk before it returns. */
export const writePrivateFile = (path: string, text: string): void => {
  const unfinished = join(dirname(path), `.${basename(path)}.new`);
  const file = openSync(unfinished, 'w', ownerOnly);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};
