import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Turns the body of a kept answer into what is stored, and back. */
export interface AnswerSeal {
  seal(body: string): string;
  /** @throws Error when it was sealed for somebody else */
  open(sealed: string): string;
}

const ivBytes = 12;
const tagBytes = 16;

/**
 * Seals answers that carry a secret (a new token), which the store of kept answers must not be able to tell: with a key that
 * is made from the caller's own credentials, so that only a repeat by the same token can open it.
 * @param credentials the `Authorization` header as it came
 * @param binding the idempotency key; the same credentials seal differently under another
 */
export const createAnswerSeal = (credentials: string, binding: string): AnswerSeal => {
  const key = Buffer.from(hkdfSync('sha256', credentials, binding, 'bindery kept answer', 32));
  return {
    seal(body) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const text = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes));
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
    },
  };
};
