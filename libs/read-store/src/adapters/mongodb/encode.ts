import type { Scalar } from '../../port.ts';

/**
 * Index values and ids are stored as text whose order is the port's order, whatever the server: null < numbers < text
 * by code point < booleans. One type of value means that a keyset is a handful of simple ranges (an index over mixed
 * types would need one for each type), and that nothing which has no such field looks like a null.
 */
const NULL = '0';
const NUMBER = '1';
const TEXT = '2';
const BOOLEAN = '3';
const END = '4';

/** First and last (exclusive) text of the values of each type. */
const BOUNDS = {
  number: [NUMBER, TEXT],
  string: [TEXT, BOOLEAN],
  boolean: [BOOLEAN, END],
} as const;

/** The text of an index value. */
export const encode = (value: Scalar): string => {
  switch (typeof value) {
    case 'string':
      return TEXT + encodeText(value);
    case 'number':
      return NUMBER + encodeNumber(value);
    case 'boolean':
      return BOOLEAN + (value ? '1' : '0');
    default:
      return NULL;
  }
};

/** Range of the texts of all values that have the type of this one: from, and below. */
export const boundsOfType = (value: string | number | boolean): readonly [string, string] => {
  if (typeof value === 'string') return BOUNDS.string;
  return typeof value === 'number' ? BOUNDS.number : BOUNDS.boolean;
};

/** Characters above U+FFFF, halves of such, and U+FFFF itself, which stands for the former. */
const BEYOND = /[\ud800-\udfff\uffff]/;
const ESCAPE = '\uffff';
/** Both halves of a code point become ordinary characters from here on. */
const HALF = 0x1000;

/**
 * Text in an order by code point under comparison of bytes and of UTF-16 units alike; some servers do the latter.
 * Nearly all text is its own encoding.
 */
export const encodeText = (text: string): string => {
  if (!BEYOND.test(text)) return text;
  let encoded = '';
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (!BEYOND.test(character)) encoded += character;
    else encoded += ESCAPE + String.fromCharCode(HALF + (point >> 10), HALF + (point & 0x3ff));
  }
  return encoded;
};

/** The text of {@link encodeText}. */
export const decodeText = (encoded: string): string => {
  if (!encoded.includes(ESCAPE)) return encoded;
  let text = '';
  for (let index = 0; index < encoded.length; index++) {
    if (encoded[index] !== ESCAPE) {
      text += encoded[index];
      continue;
    }
    const high = encoded.charCodeAt(index + 1) - HALF;
    const low = encoded.charCodeAt(index + 2) - HALF;
    text += String.fromCodePoint((high << 10) | low);
    index += 2;
  }
  return text;
};

const bits = new DataView(new ArrayBuffer(8));

/** 16 hexadecimal digits in the order of the numbers: the sign bit flipped, all bits of negative ones. */
const encodeNumber = (value: number): string => {
  // -0 is 0.
  bits.setFloat64(0, value === 0 ? 0 : value);
  const high = bits.getUint32(0);
  const low = bits.getUint32(4);
  const flipped = high >>> 31 === 1 ? [~high >>> 0, ~low >>> 0] : [(high ^ 0x80000000) >>> 0, low];
  return flipped.map((part) => part.toString(16).padStart(8, '0')).join('');
};

/**
 * A field or index name as a key of a stored document: no dots (which would mean a path), no leading dollar (an
 * operator). Slashes instead of dots keep it legible.
 */
export const encodeKey = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('$', '~2').replaceAll('.', '/');
