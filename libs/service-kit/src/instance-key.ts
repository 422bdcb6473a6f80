import { randomBytes } from 'node:crypto';
import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import type { Logger } from '@bindery/telemetry';
import { decrypt, encrypt, keyFrom } from './encryption.ts';
import { fingerprintOf, type MasterKeys, masterKeyBytes, subkeyOf } from './master-key.ts';

/** The instance key as it is kept. */
interface WrappedKey {
  /** AES-256-GCM under the master key. */
  readonly wrapped: string;
  /** Fingerprint of that master key. */
  readonly under: string;
  /** ISO time. */
  readonly wrappedAt: string;
}

/** The instance key, in the database of the keys of users. */
export const instanceKeyCollection: CollectionSpec = { name: 'identity.instance-key', version: 1, indexes: [] };
const keyId = 'instance-key';
/** What the wrapped text is bound to. */
const associated = 'bindery/instance-key/1';

/** A known text, wrapped under what the keys of users are wrapped under: tells whether that is still the same. */
export const keyCheckCollection: CollectionSpec = { name: 'identity.key-check', version: 1, indexes: [] };
/** Id of the text, and the text. */
export const keyCheckId = 'master-key';
/** What the keys of users are wrapped with, of what is derived from the instance key. */
export const userKeyWrapping = 'key-wrapping';

/** The keys cannot be read: they were written under another master key than those that are set. */
export class WrongMasterKey extends Error {
  readonly code = 'identity.wrong_master_key';
}

/** There are events but no keys: a database that was lost, or is not restored yet. */
export class KeysMissing extends Error {
  readonly code = 'identity.keys_missing';
}

/** Losing so often against other processes that write the same document means something else is wrong. */
const mostAttempts = 10;

const wrappingKey = (masterKey: Uint8Array) => keyFrom(subkeyOf(masterKey, 'instance-key-wrapping'));

const wrap = (instanceKey: Uint8Array, masterKey: Uint8Array): WrappedKey => ({
  wrapped: encrypt(wrappingKey(masterKey), instanceKey, associated),
  under: fingerprintOf(masterKey),
  wrappedAt: new Date().toISOString(),
});

/** What was encrypted, or undefined when the key is another one or the text was changed: the two cannot be told apart. */
const opened = (decrypting: () => Uint8Array): Uint8Array | undefined => {
  try {
    return decrypting();
  } catch {
    return undefined;
  }
};

const settingsOf = ({ current, previous }: MasterKeys): string =>
  previous === undefined
    ? `MASTER_KEY (${fingerprintOf(current)}) is not the key`
    : `neither MASTER_KEY (${fingerprintOf(current)}) nor MASTER_KEY_PREVIOUS (${fingerprintOf(previous)}) is the key`;

const wrongKey = (keys: MasterKeys, { under, wrappedAt }: WrappedKey): WrongMasterKey => {
  const known = [keys.current, keys.previous].some((key) => key !== undefined && fingerprintOf(key) === under);
  return new WrongMasterKey(
    known
      ? `the instance key was damaged: ${under}, the master key that it was wrapped under at ${wrappedAt}, does not open it; restore the database of keys`
      : `${settingsOf(keys)} that this instance is kept under: that is ${under}, since ${wrappedAt}`,
  );
};

/**
 * Instances made by releases without an instance key derived everything from the master key: that one is theirs for good,
 * since digests in events cannot be made anew.
 * @returns undefined for a new instance
 */
const adopted = async (store: ReadStore, keys: MasterKeys): Promise<Uint8Array | undefined> => {
  const checks = await store.collection<{ readonly wrapped: string }>(keyCheckCollection);
  const check = await checks.get(keyCheckId);
  if (check === undefined) return undefined;
  const { wrapped } = check.document;
  const fits = (key: Uint8Array | undefined): boolean =>
    key !== undefined &&
    opened(() => decrypt(keyFrom(subkeyOf(key, userKeyWrapping)), wrapped, keyCheckId)) !== undefined;
  if (fits(keys.current)) return keys.current;
  if (fits(keys.previous)) return keys.previous;
  throw new WrongMasterKey(`${settingsOf(keys)} that this data was written with`);
};

/** Overwritten, the wrapping by the former master key is still in the files of the database for a while. */
const scrub = async (store: ReadStore, logger: Pick<Logger, 'warn'>): Promise<void> => {
  try {
    await store.scrub();
  } catch (error) {
    logger.warn('the former wrapping of the instance key may be in the files of the database still', { error });
  }
};

/**
 * The key that everything of an instance is derived from (docs/adr/0022-keys.md): 32 bytes, the same for good, kept wrapped
 * under the master key. A new instance makes it; when the master key before the present one opens it, it is wrapped anew
 * under the present one. Processes may do so at the same time, and in any order.
 * @param store the database of the keys of users
 * @param events the log of the instance: one that has events is not new
 * @throws WrongMasterKey, saying which of the settings is wrong; KeysMissing
 */
export const openInstanceKey = async (
  store: ReadStore,
  keys: MasterKeys,
  events: { head(): Promise<number> },
  logger: Pick<Logger, 'info' | 'warn'>,
): Promise<Uint8Array> => {
  for (const key of [keys.current, keys.previous])
    if (key !== undefined && key.byteLength !== masterKeyBytes)
      throw new RangeError(`a master key has ${masterKeyBytes} bytes`);
  const { current, previous } = keys;
  const collection: Collection<WrappedKey> = await store.collection<WrappedKey>(instanceKeyCollection);
  const make = async (): Promise<Uint8Array> => {
    // Whoever wrote the events had made a key before: it is there by now, or lost.
    if (keys.lost !== true && (await events.head()) > 0 && (await collection.get(keyId)) === undefined)
      throw new KeysMissing(
        'there are events but no instance key: restore the database of keys, or start with KEYS_LOST=true once if it is lost for good',
      );
    return new Uint8Array(randomBytes(masterKeyBytes));
  };
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    const stored = await collection.get(keyId);
    if (stored === undefined) {
      const former = await adopted(store, keys);
      const key = former ?? (await make());
      if (!(await collection.compareAndPut(keyId, -1, wrap(key, current)))) continue;
      const what = former === undefined ? 'an instance key was made' : 'the master key became the instance key';
      logger.info(what, { under: fingerprintOf(current) });
      return key;
    }
    const { document, revision } = stored;
    const open = (masterKey: Uint8Array) => opened(() => decrypt(wrappingKey(masterKey), document.wrapped, associated));
    const key = open(current);
    if (key !== undefined) return key;
    const before = previous === undefined ? undefined : open(previous);
    if (before === undefined) throw wrongKey(keys, document);
    if (!(await collection.compareAndPut(keyId, revision, wrap(before, current)))) continue;
    logger.info('the instance key is wrapped anew', { under: fingerprintOf(current), before: document.under });
    await scrub(store, logger);
    return before;
  }
  throw new Error('the instance key cannot be kept: others write it all the time');
};
