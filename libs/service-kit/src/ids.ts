import { createHmac, randomFillSync, randomUUID } from 'node:crypto';
import type { IdSource } from './operation.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** 22 characters of 62 carry 131 bits. */
const idLength = 22;
/** Bytes from here up would make the first characters of the alphabet more likely. */
const fairBytes = 256 - (256 % alphabet.length);

const allDigits = /^\d+$/;

/** Draws an id from an endless supply of bytes. */
function idFrom(bytes: () => Uint8Array): string {
  for (;;) {
    let id = '';
    while (id.length < idLength) {
      for (const byte of bytes()) {
        if (byte < fairBytes && id.length < idLength) id += alphabet[byte % alphabet.length];
      }
    }
    if (!allDigits.test(id)) return id;
  }
}

const uuidFrom = (bytes: Uint8Array): string => {
  const hex = Buffer.from(bytes.subarray(0, 16));
  hex[6] = ((hex[6] ?? 0) & 0x0f) | 0x40;
  hex[8] = ((hex[8] ?? 0) & 0x3f) | 0x80;
  return hex.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/** In the order of their codes, so that texts of one length compare like the numbers they stand for. */
const ordered = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Milliseconds since 1970 fit until the year 2081; then the order begins anew. */
const timeLength = 7;

/** One call of the operating system's generator serves many ids. */
const pool = new Uint8Array(4096);
let taken = pool.length;
const randomChunk = (): Uint8Array => {
  const length = idLength + 2;
  if (taken + length > pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  taken += length;
  return pool.subarray(taken - length, taken);
};

const timeText = (milliseconds: number): string => {
  let text = '';
  for (let rest = milliseconds; text.length < timeLength; rest = Math.floor(rest / ordered.length)) {
    text = `${ordered[rest % ordered.length]}${text}`;
  }
  return text;
};

/**
 * The first characters say when: what is made one after the other lies together in every index by id, and a write touches
 * a few pages of it instead of one for each id. The others are random, 89 bits, so that nobody guesses an id.
 */
const random: IdSource = {
  id: () => timeText(Date.now()) + idFrom(randomChunk).slice(timeLength),
  eventId: () => {
    const time = Date.now().toString(16).padStart(12, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`; // version 7 of RFC 9562
  },
};

/**
 * Makes ids of 22 characters of [A-Za-z0-9], never all digits, and event ids (UUIDs); without a seed in the order of time.
 * @param seed secret text; with it the n-th id and the n-th event id are always the same (PITFALLS 9). Without it they are unique and cannot be guessed.
 */
export function createIdSource(seed?: string): IdSource {
  if (seed === undefined) return random;
  let ids = 0;
  let events = 0;
  const derive = (label: string): Uint8Array => createHmac('sha256', seed).update(label).digest();
  return {
    id() {
      ids += 1;
      let round = 0;
      return idFrom(() => {
        round += 1;
        return derive(`id:${ids}:${round}`);
      });
    },
    eventId() {
      events += 1;
      return uuidFrom(derive(`event:${events}`));
    },
  };
}
