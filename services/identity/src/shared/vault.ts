import { createHmac, type KeyObject, randomBytes } from 'node:crypto';
import { decrypt, encrypt, keyFrom, secretOf, subkeyOf, userKeyWrapping } from '@bindery/service-kit';

/** Length of the instance key and of the keys of users, in bytes. */
export const keyBytes = 32;

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** What is derived from the instance key, each purpose from its own subkey. The instance key itself goes nowhere. */
export interface Vault {
  /** Keyed hash of a normalized email, hex: the same for the same email on this instance, meaningless elsewhere. */
  emailDigest(normalized: string): string;
  /** An id that is the same at every start of this instance: what the first start makes twice, it makes once. */
  deriveId(label: string): string;
  /** A secret for a purpose (signing cursors, download addresses), the same at every start. */
  secret(purpose: string): string;
  /** Encrypts the key of a user. */
  wrap(key: KeyObject, userId: string): string;
  /** @throws Error when the instance key is another one, or the text was changed */
  unwrap(wrapped: string, userId: string): KeyObject;
}

/**
 * @param instanceKey 32 bytes
 * @throws RangeError when it has another length
 */
export const createVault = (instanceKey: Uint8Array): Vault => {
  if (instanceKey.byteLength !== keyBytes) throw new RangeError(`the instance key must have ${keyBytes} bytes`);
  const subkey = (purpose: string): KeyObject => keyFrom(subkeyOf(instanceKey, purpose));
  const emails = subkey('email-digest');
  const ids = subkey('derived-ids');
  const wrapping = subkey(userKeyWrapping);
  return {
    emailDigest: (normalized) => createHmac('sha256', emails).update(normalized).digest('hex'),
    deriveId: (label) => {
      const bytes = createHmac('sha256', ids).update(label).digest().subarray(0, 24);
      return Array.from(bytes, (byte, index) => alphabet[index === 0 ? 10 + (byte % 52) : byte % 62]).join('');
    },
    secret: (purpose) => secretOf(instanceKey, purpose),
    wrap: (key, userId) => encrypt(wrapping, key.export(), userId),
    unwrap: (wrapped, userId) => keyFrom(decrypt(wrapping, wrapped, userId)),
  };
};

/** A new random key. */
export const newKey = (): KeyObject => keyFrom(randomBytes(keyBytes));
