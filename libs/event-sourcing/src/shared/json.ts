/** Values found to be plain JSON; parts shared between one version of a document and the next are walked once. */
const known = new WeakSet<object>();

const isPlainNumber = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0);

/**
 * Only parts this near the top are remembered: whole documents and revisions, which is what versions share. Each of their
 * thousands of nodes in a weak set would cost more in every garbage collection than it saves.
 */
const REMEMBERED_DEPTH = 6;

/** Deeper values are left to `JSON.stringify`, which finds cycles. */
const MAX_DEPTH = 200;

const isPlain = (value: unknown, depth: number): boolean => {
  if (typeof value === 'number') return isPlainNumber(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null || known.has(value)) return true;
  if (depth > MAX_DEPTH) return false;
  const plain = Array.isArray(value) ? isPlainArray(value, depth + 1) : isPlainObject(value, depth + 1);
  if (plain && depth <= REMEMBERED_DEPTH) known.add(value);
  return plain;
};

const isPlainArray = (value: readonly unknown[], depth: number): boolean => {
  for (const item of value) if (!isPlain(item, depth)) return false; // unlike `every`, meets the holes too
  return true;
};

const isPlainObject = (value: object, depth: number): boolean => {
  const prototype = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return false;
  for (const name in value) if (!isPlain(value[name as keyof typeof value], depth)) return false;
  return true;
};

/**
 * The value as a store would give it back: the value itself when it is plain JSON, else its JSON copy. What is folded in
 * memory is then the same, to the order of the fields, as what is folded from the store, which is what makes a rebuild
 * byte-identical.
 * @throws TypeError when it has no JSON form
 */
export const asStored = <T>(value: T): T => {
  if (isPlain(value, 0)) return value;
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError('not JSON');
  return JSON.parse(text);
};
