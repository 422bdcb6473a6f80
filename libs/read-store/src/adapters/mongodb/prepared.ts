import { BSON } from 'mongodb';
import type { CollectionSpec, Write } from '../../port.ts';
import { checkKey } from '../../query-rules.ts';
import { isLong, packed, textOf } from './documents.ts';
import { encodeText } from './encode.ts';
import type { StoredDocument } from './layout.ts';
import type { LiveLayout } from './live-layout.ts';

/** A write that was checked and encoded, ready to be sent any number of times. */
export interface Prepared {
  readonly id: string;
  readonly revision: number;
  /** About how many bytes it has. */
  readonly size: number;
  /** The whole stored document but for its id. */
  content(): Promise<Content>;
}

/** A stored document without its id. */
export type Content = Omit<StoredDocument, '_id'>;

/** Limits of one command of many writes, so that it is answered in time. */
const CHUNK_WRITES = 1000;
const CHUNK_BYTES = 8 * 1024 * 1024;

/** Checks and encodes at once: the caller may change the document afterwards. @throws TypeError, RangeError */
export const prepare = (live: LiveLayout, write: Write<unknown>): Prepared => {
  const { id, revision } = write;
  const layout = live.current;
  checkKey(id, revision);
  const _id = encodeText(id);
  if (write.kind === 'remove') {
    const content = async (): Promise<Content> => ({ r: revision, ...(await live.fresh()).exempt(id) });
    return { id: _id, revision, size: id.length, content };
  }
  const text = textOf(layout.spec, write.document);
  const prepared = layout.fieldsOf(id, write.document);
  const content = async (): Promise<Content> => {
    const now = await live.fresh();
    const fields = now === layout ? prepared : now.fieldsOf(id, JSON.parse(text));
    return checked(now.spec, text.length, {
      r: revision,
      l: 1,
      d: isLong(text) ? await packed(text) : text,
      ...fields,
    });
  };
  return { id: _id, revision, size: text.length, content };
};

/** Most bytes of a document of the server, with some room for its id. */
const MAX_BYTES = 16 * 1024 * 1024 - 16 * 1024;
/** Texts below, in characters, are far from it with all their index fields. */
const LOOKED_AT = 256 * 1024;

/**
 * Messages much longer than a document may be end the connection instead of being refused, and would be sent for ever.
 * @throws RangeError when the server could not take it
 */
const checked = (spec: CollectionSpec, length: number, content: Content): Content => {
  if (length >= LOOKED_AT && BSON.calculateObjectSize(content) > MAX_BYTES)
    throw new RangeError(`${spec.name}: a document is larger than the document database takes`);
  return content;
};

/** Of several writes of one document the newest is enough. The order is that of the last ones. */
export const newestOfEach = (writes: readonly Prepared[]): readonly Prepared[] => {
  const newest = new Map<string, Prepared>();
  for (const write of writes) {
    const known = newest.get(write.id);
    if (known !== undefined && known.revision >= write.revision) continue;
    newest.delete(write.id);
    newest.set(write.id, write);
  }
  return [...newest.values()];
};

/** How many of the first writes go into one command; 1 at least. */
export const chunkLength = (writes: readonly Prepared[]): number => {
  let bytes = 0;
  const end = writes.findIndex(({ size }, index) => {
    bytes += size;
    return index > 0 && (index === CHUNK_WRITES || bytes > CHUNK_BYTES);
  });
  return end === -1 ? writes.length : end;
};
