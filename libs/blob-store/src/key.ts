import { InvalidBlobKey } from './port.ts';

const SHA256 = /^[0-9a-f]{64}$/;

/** @throws InvalidBlobKey unless it is a SHA-256 in lower-case hex, so that no key can name anything else */
export const checkBlobKey = (sha256: string): void => {
  if (typeof sha256 !== 'string' || !SHA256.test(sha256))
    throw new InvalidBlobKey('a blob key is 64 characters of lower-case hex');
};

/**
 * The range that a read of a blob covers.
 * @throws RangeError unless 0 <= start <= end < size
 */
export const checkRange = (size: number, range: { readonly start: number; readonly end: number }): void => {
  const { start, end } = range;
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end < size))
    throw new RangeError(`the range ${start}-${end} is not inside the ${size} bytes`);
};
