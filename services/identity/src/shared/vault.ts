import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { secretOf, subkeyOf } from '@bindery/service-kit';

/** Length of the master key and of the keys of users, in bytes. */
export const keyBytes = 32;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const nonceBytes = 12;
const tagBytes = 16;

/** What is derived from the master key, each purpose from its own subkey. The master key itself goes nowhere. */
export interface Vault {
  /** Keyed hash of a normalized email, hex: the same for the same email on this instance, meaningless elsewhere. */
  emailDigest(normalized: string): string;
  /** An id that is the same at every start of this instance: what the first start makes twice, it makes once. */
  deriveId(label: string): string;
  /** A secret for a purpose (signing cursors, download addresses), the same at every start. */
  secret(purpose: string): string;
  /** Encrypts the key of a user. */
  wrap(key: KeyObject, userId: string): string;
  /** @throws Error when the master key is another one, or the text was changed */
  unwrap(wrapped: string, userId: string): KeyObject;
}

/**
 * @param masterKey 32 bytes
 * @throws RangeError when it has another length
 */
export const createVault = (masterKey: Uint8Array): Vault => {
  if (masterKey.byteLength !== keyBytes) throw new RangeError(`the master key must have ${keyBytes} bytes`);
  // Key objects, here and for users: keys given as bytes are imported anew at every use, ten times the cost of the use.
  const subkey = (purpose: string): KeyObject => keyFrom(subkeyOf(masterKey, purpose));
  const emails = subkey('email-digest');
  const ids = subkey('derived-ids');
  const wrapping = subkey('key-wrapping');
  return {
    emailDigest: (normalized) => createHmac('sha256', emails).update(normalized).digest('hex'),
    deriveId: (label) => {
      const bytes = createHmac('sha256', ids).update(label).digest().subarray(0, 24);
      return Array.from(bytes, (byte, index) => alphabet[index === 0 ? 10 + (byte % 52) : byte % 62]).join('');
    },
    secret: (purpose) => secretOf(masterKey, purpose),
    wrap: (key, userId) => encrypt(wrapping, key.export(), userId),
    unwrap: (wrapped, userId) => keyFrom(decrypt(wrapping, wrapped, userId)),
  };
};

/** AES-256-GCM with a random nonce. @returns base64url of nonce, tag and ciphertext */
export const encrypt = (key: KeyObject, plain: Uint8Array, associated: string): string => {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(associated));
  const body = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
};

/** @throws Error when key, text or associated data do not fit */
export const decrypt = (key: KeyObject, text: string, associated: string): Uint8Array => {
  const bytes = Buffer.from(text, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(associated))
    .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
};

/** A new random key. */
export const newKey = (): KeyObject => keyFrom(randomBytes(keyBytes));

/** A key from its bytes. */
export const keyFrom = (bytes: Uint8Array): KeyObject => createSecretKey(bytes);
