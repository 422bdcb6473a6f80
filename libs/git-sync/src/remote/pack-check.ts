import { inflateSync } from 'node:zlib';
import { GitSyncFailed } from '../errors.ts';

/** What a pack may become when it is opened. */
export interface PackLimits {
  readonly maxObjects: number;
  /** Bytes of one object. */
  readonly maxObjectBytes: number;
  /** Bytes of all objects, deltas applied. */
  readonly maxTotalBytes: number;
}

const offsetDelta = 6;
const referenceDelta = 7;
/** Room for a delta of an object: its instructions are rarely longer than what they make. */
const deltaSlack = 1024;

const broken = (cause?: unknown): GitSyncFailed =>
  new GitSyncFailed('unusable', 'The repository sent data that cannot be read.', { cause });

/** A length of 7 bits per byte, the lowest first. */
const lengthAt = (bytes: Uint8Array, at: number): { readonly value: number; readonly next: number } => {
  let value = 0;
  let next = at;
  for (let scale = 1; next < at + 8; scale *= 128) {
    const byte = bytes[next];
    if (byte === undefined) throw broken();
    next += 1;
    value += (byte & 127) * scale;
    if (byte < 128) return { value, next };
  }
  throw broken();
};

/** Type and size of an object, and where its data starts. */
const headAt = (pack: Uint8Array, at: number) => {
  const first = pack[at];
  if (first === undefined) throw broken();
  const type = (first >> 4) & 7;
  let size = first & 15;
  let next = at + 1;
  if (first >= 128) {
    const more = lengthAt(pack, next);
    size += more.value * 16;
    next = more.next;
  }
  if (type === referenceDelta) next += 20;
  if (type === offsetDelta) {
    while ((pack[next] ?? 0) >= 128) next += 1;
    next += 1;
  }
  return { type, size, next };
};

/** @types/node does not say that `info` gives back what was read. */
interface Inflated {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}

/**
 * Looks at every object of a pack before the git library opens it: what is said of its size is held against what comes out,
 * with a bound on what may come out, so that a small pack cannot become more than memory (PITFALLS 56).
 * @throws GitSyncFailed too-large, too-many, unusable
 */
export const checkPack = (pack: Uint8Array, limits: PackLimits): void => {
  const view = Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength);
  if (view.length < 32 || view.toString('latin1', 0, 4) !== 'PACK') throw broken();
  const count = view.readUInt32BE(8);
  if (count > limits.maxObjects)
    throw new GitSyncFailed('too-many', `The repository has ${count} objects, of ${limits.maxObjects} allowed.`);
  const tooLarge = (size: number) =>
    new GitSyncFailed('too-large', `The repository has a file of ${size} bytes, of ${limits.maxObjectBytes} allowed.`);
  let at = 12;
  let total = 0;
  for (let index = 0; index < count; index += 1) {
    const { type, size, next } = headAt(view, at);
    const isDelta = type === offsetDelta || type === referenceDelta;
    const room = limits.maxObjectBytes + (isDelta ? deltaSlack : 0);
    if (size > room) throw tooLarge(size);
    let inflated: Inflated;
    try {
      const options = { info: true, maxOutputLength: Math.max(1, size) };
      inflated = inflateSync(view.subarray(next), options) as unknown as Inflated;
    } catch (error) {
      throw broken(error);
    }
    const { buffer, engine } = inflated;
    if (buffer.byteLength !== size) throw broken();
    total += size;
    if (isDelta) {
      // A delta begins with the sizes of what it is made from and of what it makes.
      const made = lengthAt(buffer, lengthAt(buffer, 0).next).value;
      if (made > limits.maxObjectBytes) throw tooLarge(made);
      total += made;
    }
    if (total > limits.maxTotalBytes)
      throw new GitSyncFailed('too-large', `The repository has more than ${limits.maxTotalBytes} bytes of files.`);
    at = next + engine.bytesWritten;
  }
};
