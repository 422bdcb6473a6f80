/** Values found to be plain JSON; parts shared between one version of a document and the next are walked once. */
const known = new WeakSet<object>();

const isPlainNumber = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0);

const isPlain = (value: unknown): boolean => {
  if (typeof value === 'number') return isPlainNumber(value);
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean';
  if (value === null || known.has(value)) return true;
  const plain = Array.isArray(value) ? value.every(isPlain) : isPlainObject(value);
  if (plain) known.add(value);
  return plain;
};

const isPlainObject = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) return false;
  for (const name in value) if (!isPlain(value[name as keyof typeof value])) return false;
  return true;
};

/**
 * The value as a store would give it back: the value itself when it is plain JSON, else its JSON copy. What is folded in
 * memory is then the same, to the order of the fields, as what is folded from the store, which is what makes a rebuild
 * byte-identical.
 * @throws TypeError when it has no JSON form
 */
export const asStored = <T>(value: T): T => {
  if (isPlain(value)) return value;
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError('not JSON');
  return JSON.parse(text);
};
