import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { Binary } from 'mongodb';
import { ReadStoreUnusable } from '../../errors.ts';
import type { CollectionSpec, Stored } from '../../port.ts';
import { decodeText } from './encode.ts';
import type { StoredDocument } from './layout.ts';

/** The server takes 16 MiB a document, the index fields among them; longer texts are compressed. */
const LONG_BYTES = 8 * 1024 * 1024;
/** Longest text that is read back. */
const MAX_BYTES = 512 * 1024 * 1024;
const compress = promisify(gzip);
const expand = promisify(gunzip);

/** What is read of a document. */
export type Row = Pick<StoredDocument, '_id' | 'r' | 'd'>;
/** The projection of {@link Row}. */
export const ROW = { _id: 1, r: 1, d: 1 } as const;

/** The JSON text of a document. Taken at once: the caller may change the document afterwards. @throws TypeError */
export const textOf = (spec: CollectionSpec, document: unknown): string => {
  const text: string | undefined = JSON.stringify(document);
  if (text === undefined) throw new TypeError(`${spec.name}: a document must be JSON`);
  return text;
};

/** Whether the text needs {@link packed}. */
export const isLong = (text: string): boolean => text.length * 3 > LONG_BYTES && Buffer.byteLength(text) > LONG_BYTES;

/** A long text as it is stored. */
export const packed = async (text: string): Promise<Binary> =>
  new Binary(await compress(text, { level: constants.Z_BEST_SPEED }));

/** @throws ReadStoreUnusable when it is damaged */
export const storedOf = async <T>(spec: CollectionSpec, row: Row): Promise<Stored<T> | undefined> => {
  if (typeof row.d === 'string' || row.d === undefined) return shortOf(spec, row);
  try {
    const text = (await expand(row.d.buffer, { maxOutputLength: MAX_BYTES })).toString();
    return shortOf(spec, { ...row, d: text });
  } catch (cause) {
    throw damaged(spec, row, cause);
  }
};

/** All rows that are documents, in their order. */
export const storedOfAll = async <T>(spec: CollectionSpec, rows: readonly Row[]): Promise<readonly Stored<T>[]> => {
  const stored: Stored<T>[] = [];
  for (const row of rows) {
    const one = typeof row.d === 'string' ? shortOf<T>(spec, row) : await storedOf<T>(spec, row);
    if (one !== undefined) stored.push(one);
  }
  return stored;
};

const shortOf = <T>(spec: CollectionSpec, row: Row): Stored<T> | undefined => {
  if (row.d === undefined) return undefined;
  try {
    return { id: decodeText(row._id), revision: row.r, document: JSON.parse(String(row.d)) };
  } catch (cause) {
    throw damaged(spec, row, cause);
  }
};

const damaged = (spec: CollectionSpec, row: Row, cause: unknown): ReadStoreUnusable =>
  new ReadStoreUnusable(`${spec.name}: the document ${decodeText(row._id)} is damaged`, { cause });
