import { createHash, randomInt } from 'node:crypto';

const prefix = 'bnd_pat_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const characters = 40;

/** What a token that an operator sets must look like: at least 20 characters that a bearer token may have (RFC 6750). */
export const acceptableToken = /^[A-Za-z0-9._~+/-]{20,256}=*$/;

/** A new secret: `bnd_pat_` and 40 random characters of [0-9A-Za-z], 238 bits. */
export const newTokenSecret = (): string => newSecret(prefix);

/** 40 random characters of [0-9A-Za-z] after a prefix that says what it is. */
export const newSecret = (kind: string): string =>
  kind + Array.from({ length: characters }, () => alphabet[randomInt(alphabet.length)]).join('');

/** What is stored of a token: SHA-256 in lower-case hex. Not slow on purpose: the secret is random, nobody can guess it. */
export const tokenHashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
