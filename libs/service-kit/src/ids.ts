import { createHmac, randomBytes, randomUUID } from 'node:crypto';
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

const random: IdSource = { id: () => idFrom(() => randomBytes(idLength + 2)), eventId: () => randomUUID() };

/**
 * Makes ids of 22 characters of [A-Za-z0-9], never all digits, and event ids (UUIDs).
 * @param seed secret text; with it the n-th id and the n-th event id are always the same (PITFALLS 9). Random without.
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
