import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type ConfigOf, type keySettings, type MasterKeys, masterKeyBytes, parseMasterKey } from '@bindery/service-kit';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

/**
 * The key that wraps the instance key: from the configuration, else from `master.key` in the data directory, which
 * is made when it is not there. Who loses it loses all personal data; back it up apart from the data.
 * @throws RangeError when the file holds no key
 */
export const masterKeyOf = (dataDir: string, configured: string | undefined): Uint8Array => {
  if (configured !== undefined) return parseMasterKey(configured);
  const path = join(dataDir, 'master.key');
  const stored = readPrivateFile(path);
  if (stored !== undefined) return parseMasterKey(stored);
  const key = randomBytes(masterKeyBytes);
  writePrivateFile(path, `${key.toString('base64')}\n`);
  return new Uint8Array(key);
};

/** That key, and what the settings say about the one before. */
export const masterKeysOf = (
  dataDir: string,
  settings: ConfigOf<typeof keySettings> & { readonly MASTER_KEY: string | undefined },
): MasterKeys => {
  const { MASTER_KEY_PREVIOUS: previous, KEYS_LOST: lost } = settings;
  return {
    current: masterKeyOf(dataDir, settings.MASTER_KEY),
    previous: previous === undefined ? undefined : parseMasterKey(previous),
    lost,
  };
};
