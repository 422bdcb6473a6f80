import type { PlainValue } from '@bindery/contracts/document';

/** Attributes of a `{% tag %}`: named ones, and the text that stands without a name. */
export interface TagAttributes {
  readonly named: ReadonlyMap<string, PlainValue>;
  /** Quoted text without a name (include), or everything when it is no list of attributes (if). */
  readonly rest: string;
}

const attribute = /\s*([@\w.:-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|([^\s"'=]+))/y;
const lone = /\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([\w-]+)(?=\s|$))/y;

const unquote = (value: string): string => value.replace(/\\(["'\\])/g, '$1');

/** A value without quotes is JSON where it can be, and `json:` marks an encoded structure. */
function bare(value: string): PlainValue {
  if (value === 'true') return true;
  if (value === 'false') return false;
  if (/^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/.test(value)) return Number(value);
  if (value.startsWith('json:')) {
    try {
      return JSON.parse(decodeURIComponent(value.slice(5))) as PlainValue;
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof URIError) return value;
      throw error;
    }
  }
  return value;
}

/** Reads the inside of a tag after its name; undefined when it is no well-formed list of attributes. */
export function parseAttributes(source: string): TagAttributes | undefined {
  const named = new Map<string, PlainValue>();
  const loose: string[] = [];
  let position = 0;
  const end = source.trimEnd().length;
  while (position < end) {
    attribute.lastIndex = position;
    const match = attribute.exec(source);
    if (match !== null) {
      const name = match[1] ?? '';
      if (named.has(name) || name === '__proto__') return undefined;
      const quoted = match[2] ?? match[3];
      named.set(name, quoted === undefined ? bare(match[4] ?? '') : unquote(quoted));
      position = attribute.lastIndex;
      continue;
    }
    lone.lastIndex = position;
    const word = lone.exec(source);
    if (word === null) return undefined;
    if (word[1] !== undefined) loose.push(unquote(word[1]));
    else named.set(word[2] ?? '', true);
    position = lone.lastIndex;
  }
  if (loose.length > 1) return undefined;
  return { named, rest: loose[0] ?? '' };
}
