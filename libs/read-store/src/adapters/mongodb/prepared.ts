import type { Write } from '../../port.ts';
import { checkKey } from '../../query-rules.ts';
import { isLong, packed, textOf } from './documents.ts';
import { encodeText } from './encode.ts';
import type { Layout, StoredDocument } from './layout.ts';

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
export const prepare = (layout: Layout, write: Write<unknown>): Prepared => {
  const { id, revision } = write;
  checkKey(id, revision);
  const _id = encodeText(id);
  if (write.kind === 'remove') {
    const tombstone = { r: revision, ...layout.exempt(id) };
    return { id: _id, revision, size: id.length, content: async () => tombstone };
  }
  const text = textOf(layout.spec, write.document);
  const fields = layout.fieldsOf(id, write.document);
  const content = async (): Promise<Content> => ({
    r: revision,
    l: 1,
    d: isLong(text) ? await packed(text) : text,
    ...fields,
  });
  return { id: _id, revision, size: text.length, content };
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
