import { createHash } from 'node:crypto';
import type { ParkedKeyId, ParkedWork, WaitingKey } from '@bindery/service-kit';

/** Keys that stand for themselves in an address: not empty, not too long, nothing that addresses lose on their way. */
const plain = /^(?!~|\.{1,2}$)[^\p{Cc}]{1,512}$/u;
/** What is shown of a key, in UTF-16 units. */
const shownLength = 512;
/** What a cursor holds of a key, in UTF-16 units: it has to fit into {@link limits.cursor}. */
const cursorLength = 64;
/** Keys that are looked through at a time. */
const together = 1000;

/** A short name for a text of any length. */
export const digestOf = (text: string): string => `~${createHash('sha256').update(text).digest('base64url')}`;

/** Name of a parked key in addresses and in the audit: itself where that is possible, else a digest. */
export const nameOfKey = (key: string): string => (plain.test(key) ? key : digestOf(key));

const beginning = (text: string, length: number): string => {
  const cut = text.slice(0, length);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
};

/** A key as it is shown. */
export const shownKey = (key: string): string => beginning(key, shownLength);

/** How a cursor tells a key: what it begins with, and a digest where that is not all. */
export const placeOfKey = (key: string): readonly [begins: string, digest: string] =>
  key.length <= cursorLength ? [key, ''] : [beginning(key, cursorLength), digestOf(key)];

type Keys = Pick<ParkedWork, 'keys'>;

/** The parked key of a digest; looked for among those that begin like it. */
const locate = async (
  work: Keys,
  { group, topic }: Omit<ParkedKeyId, 'key'>,
  digest: string,
  begins: string,
): Promise<WaitingKey | undefined> => {
  let after = begins === '' ? undefined : { group, topic, key: begins };
  for (;;) {
    const { keys } = await work.keys({ group, topic, ...(after === undefined ? {} : { after }), limit: together });
    const found = keys.find(({ key }) => digestOf(key) === digest);
    const last = keys.at(-1);
    if (found !== undefined || last === undefined || keys.length < together) return found;
    if (!last.key.startsWith(begins)) return undefined;
    after = { group, topic, key: last.key };
  }
};

/** The parked key of a name, and the groups of the service. */
export const keyOfName = async (
  work: Keys,
  { group, topic, key: name }: ParkedKeyId,
): Promise<{ readonly groups: readonly string[]; readonly known: WaitingKey | undefined }> => {
  const isDigest = name.startsWith('~');
  const { groups, keys } = await work.keys({ group, topic, ...(isDigest ? {} : { key: name }), limit: 1 });
  if (!isDigest || keys.length === 0 || !groups.includes(group))
    return { groups, known: isDigest ? undefined : keys[0] };
  return { groups, known: await locate(work, { group, topic }, name, '') };
};

/** The key that a cursor tells of. One that is free by now is replaced by its beginning: those that share it may come again. */
export const keyOfPlace = async (
  work: Keys,
  of: Omit<ParkedKeyId, 'key'>,
  begins: string,
  digest: string,
): Promise<ParkedKeyId> => {
  const found = digest === '' ? undefined : await locate(work, of, digest, begins);
  return { ...of, key: found?.key ?? begins };
};
