import { createHmac, timingSafeEqual } from 'node:crypto';
import { limits } from '@bindery/contracts';
import { invalid, type Problem } from './errors.ts';

/** A value that a cursor may carry: JSON scalars, as the sort fields of a query have. */
export type CursorValue = string | number | boolean | null;

/** Packs positions in lists into opaque text, and back. A cursor works in the list it came from and nowhere else. */
export interface CursorCodec {
  encode(list: string, position: readonly CursorValue[]): string;
  /** @throws Problem 400 `cursor.invalid` for text that this codec did not make for this list */
  decode(list: string, cursor: string): readonly CursorValue[];
}

const macBytes = 12;
const invalidCursor = (): Problem => invalid('cursor.invalid', 'query.page: is not a cursor of this list');

/**
 * The identity of a list: the operation and everything that selects or orders its items, but not `page` and `limit`.
 * @param filters query and path parameters that matter; undefined ones count as absent
 */
export function listIdentity(operationId: string, filters: Readonly<Record<string, unknown>> = {}): string {
  const names = Object.keys(filters)
    .filter((name) => name !== 'page' && name !== 'limit' && filters[name] !== undefined)
    .sort();
  return JSON.stringify([operationId, ...names.map((name) => [name, filters[name]])]);
}

/** @param secret the same in every replica, at least 16 characters */
export function createCursorCodec(secret: string): CursorCodec {
  if (secret.length < 16) throw new Error('cursors: the secret needs at least 16 characters');
  const sign = (list: string, payload: string): Buffer =>
    createHmac('sha256', secret).update(list).update('\u0000').update(payload).digest().subarray(0, macBytes);
  return {
    encode(list, position) {
      const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
      return `${payload}.${sign(list, payload).toString('base64url')}`;
    },
    decode(list, cursor) {
      if (cursor.length > limits.cursor.maxLength) throw invalidCursor();
      const [payload, mac, ...rest] = cursor.split('.');
      if (payload === undefined || mac === undefined || rest.length > 0) throw invalidCursor();
      const given = Buffer.from(mac, 'base64url');
      if (given.length !== macBytes || !timingSafeEqual(given, sign(list, payload))) throw invalidCursor();
      const position: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
      if (!Array.isArray(position)) throw invalidCursor();
      return position;
    },
  };
}
