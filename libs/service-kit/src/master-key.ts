import { hkdfSync } from 'node:crypto';
import { optional, required } from './config.ts';

/** Length of the master key in bytes. */
export const masterKeyBytes = 32;

/** How a master key is written: 32 bytes, as 64 hexadecimal digits or as base64. */
export const masterKeyPattern = /^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/;

/** What may stand in a setting that holds a master key. */
export const masterKeySetting = {
  pattern: masterKeyPattern,
  allowed: '32 bytes, as 64 hexadecimal digits or base64',
  secret: true,
} as const;

/** The settings beside `MASTER_KEY`, the same in every profile. */
export const keySettings = {
  MASTER_KEY_PREVIOUS: optional.text({
    description: 'The `MASTER_KEY` before this one, while it is replaced; opens what `MASTER_KEY` does not open yet.',
    ...masterKeySetting,
  }),
  KEYS_LOST: required.flag({
    description:
      'For one start, when the database of keys is lost for good: makes a new instance key although there are events.',
    fallback: false,
  }),
};

/** @throws RangeError when the text is no key */
export const parseMasterKey = (text: string): Uint8Array => {
  if (!masterKeyPattern.test(text))
    throw new RangeError('a master key is 32 bytes, as 64 hexadecimal digits or base64');
  return new Uint8Array(Buffer.from(text, text.length === masterKeyBytes * 2 ? 'hex' : 'base64'));
};

/** The master key of an instance, and the one before it while it is replaced. Each has 32 bytes. */
export interface MasterKeys {
  readonly current: Uint8Array;
  readonly previous?: Uint8Array | undefined;
  /** The database of keys is lost: a new instance key may be made although there are events. */
  readonly lost?: boolean;
}

/** @throws RangeError when a text is no key */
export const masterKeysOf = (settings: {
  readonly MASTER_KEY: string;
  readonly MASTER_KEY_PREVIOUS: string | undefined;
  readonly KEYS_LOST: boolean;
}): MasterKeys => {
  const { MASTER_KEY: current, MASTER_KEY_PREVIOUS: previous, KEYS_LOST: lost } = settings;
  return {
    current: parseMasterKey(current),
    previous: previous === undefined ? undefined : parseMasterKey(previous),
    lost,
  };
};

/**
 * 32 bytes for one purpose, the same at every start and in every process of an instance; they say nothing about the key that
 * they come from nor about those for other purposes.
 * @param key the instance key, or a master key for what concerns it alone
 */
export const subkeyOf = (key: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', key, new Uint8Array(), `bindery/identity/${purpose}`, masterKeyBytes));

/** A secret for a purpose (signing cursors, download addresses), the same at every start. */
export const secretOf = (instanceKey: Uint8Array, purpose: string): string =>
  Buffer.from(subkeyOf(instanceKey, `secret/${purpose}`)).toString('base64url');

/** Names a master key in messages and in what it wrapped: 8 hexadecimal digits that say nothing about it. */
export const fingerprintOf = (masterKey: Uint8Array): string =>
  Buffer.from(subkeyOf(masterKey, 'fingerprint')).subarray(0, 4).toString('hex');
