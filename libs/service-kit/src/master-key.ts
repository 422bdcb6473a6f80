import { hkdfSync } from 'node:crypto';

/** Length of the master key in bytes. */
export const masterKeyBytes = 32;

/** How a master key is written: 32 bytes, as 64 hexadecimal digits or as base64. */
export const masterKeyPattern = /^([0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$/;

/** @throws RangeError when the text is no key */
export const parseMasterKey = (text: string): Uint8Array => {
  if (!masterKeyPattern.test(text))
    throw new RangeError('a master key is 32 bytes, as 64 hexadecimal digits or base64');
  return new Uint8Array(Buffer.from(text, text.length === masterKeyBytes * 2 ? 'hex' : 'base64'));
};

/**
 * 32 bytes for one purpose, the same at every start and in every process of an instance; they say nothing about the
 * master key nor about those for other purposes.
 */
export const subkeyOf = (masterKey: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', masterKey, new Uint8Array(), `bindery/identity/${purpose}`, masterKeyBytes));

/** A secret for a purpose (signing cursors, download addresses), the same at every start. */
export const secretOf = (masterKey: Uint8Array, purpose: string): string =>
  Buffer.from(subkeyOf(masterKey, `secret/${purpose}`)).toString('base64url');
