/** In the order of their codes, so that keys compare as text. */
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Milliseconds since 1970 fit until the year 2081. */
const timeLength = 7;
/** Characters of the id that keep two keys for one gap apart. */
const markLength = 6;
/** Ends every key, so that none ends in the lowest digit and there is always room between two. */
const end = 'V';
/** Keys grow by a character with about every fifth insertion at one place; longer ones are not made. */
export const maxOrderKeyLength = 600;

const digitAt = (key: string, index: number): number => Math.max(0, digits.indexOf(key[index] ?? '0'));
const plain = (id: string): string => id.replaceAll(/[^0-9A-Za-z]/g, '');
const mark = (id: string): string => plain(id).slice(-markLength);

/**
 * Key of something put at the end of its siblings at this time. Keys of later times are higher, so that whoever appends
 * needs to know nothing of what is there, and concurrent ones come one after the other.
 */
export const orderKeyAt = (time: string, id: string): string => {
  let text = '';
  for (let rest = Date.parse(time); text.length < timeLength; rest = Math.floor(rest / digits.length))
    text = `${digits[rest % digits.length]}${text}`;
  // Ids are in the order of time too, and tell apart what one millisecond brings.
  return `${text}${plain(id)}${end}`;
};

/** The shortest text between two keys; `high` undefined = no bound. */
const midpoint = (low: string, high: string | undefined): string => {
  let text = '';
  let bound = high;
  for (let index = 0; index <= maxOrderKeyLength; index += 1) {
    const from = digitAt(low, index);
    const to = bound === undefined ? digits.length : digitAt(bound, index);
    if (to - from > 1) return `${text}${digits[Math.floor((from + to) / 2)]}`;
    text += digits[from];
    if (to > from) bound = undefined;
  }
  return text;
};

/**
 * A key between those of two neighbours; undefined = there is none on that side. Two made for the same gap differ by
 * what they are for, so that both have a place and others fit between.
 * @returns undefined when there is no room: the keys are equal, in the wrong order, or too long
 */
export const orderKeyBetween = (low: string | undefined, high: string | undefined, id: string): string | undefined => {
  if (low !== undefined && high !== undefined && low >= high) return undefined;
  const key = `${midpoint(low ?? '', high)}${mark(id)}${end}`;
  if (key.length > maxOrderKeyLength || (low !== undefined && key <= low) || (high !== undefined && key >= high))
    return undefined;
  return key;
};

/** Siblings in their order; equal keys in the order of their ids. */
export const byOrder = (
  a: { readonly order: string; readonly id: string },
  b: { readonly order: string; readonly id: string },
): number => {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
};
