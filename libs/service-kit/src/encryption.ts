import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM with a random nonce.
 * @param key 32 bytes
 * @param associated what the text belongs to; it is read nowhere else
 * @returns base64url of nonce, tag and ciphertext
 */
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

/** A key from its bytes. Keys given as bytes are imported anew at every use, which costs ten times the use. */
export const keyFrom = (bytes: Uint8Array): KeyObject => createSecretKey(bytes);
