import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

const keyBytes = 32;

/** What MASTER_KEY and the file hold: 32 bytes, as 64 hexadecimal digits or as base64. */
export const masterKeyPattern = /^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/;

/** @throws RangeError when the text is no key */
export const parseMasterKey = (text: string): Uint8Array => {
  if (!masterKeyPattern.test(text))
    throw new RangeError('a master key is 32 bytes, as 64 hexadecimal digits or base64');
  const bytes = Buffer.from(text, text.length === keyBytes * 2 ? 'hex' : 'base64');
  return new Uint8Array(bytes);
};

/**
 * The key that protects the keys of users: from the configuration, else from `master.key` in the data directory, which
 * the first start makes. Who loses it loses all personal data; back it up apart from the data.
 * @throws RangeError when the file holds no key
 */
export const masterKeyOf = (dataDir: string, configured: string | undefined): Uint8Array => {
  if (configured !== undefined) return parseMasterKey(configured);
  const path = join(dataDir, 'master.key');
  const stored = readPrivateFile(path);
  if (stored !== undefined) return parseMasterKey(stored);
  const key = randomBytes(keyBytes);
  writePrivateFile(path, `${key.toString('base64')}\n`);
  return new Uint8Array(key);
};
