import { nameToEmoji } from 'gemoji';
import { blockElements, inlineElements } from '../dialect.ts';

/** What stands around a piece of text in the output. */
export interface Surroundings {
  /** Last character written before; empty at the start of the block. */
  readonly before: string;
  /** Markup that follows; empty at the end, `\n` before a line end. */
  readonly after: string;
  readonly lineStart: boolean;
  readonly inLink: boolean;
}

const special = /[\\`*_[\]<&~:$!]/g;
const punctuation = /[!-/:-@[-`{-~]/;
const space = /\s/;
const entity = /^&(?:#[xX][0-9a-fA-F]{1,6}|#\d{1,7}|[a-zA-Z][a-zA-Z0-9]{1,31});/;
const htmlTag =
  /^<(?:[A-Za-z][A-Za-z0-9-]*(?:\s+[a-zA-Z_:][a-zA-Z0-9:._-]*(?:\s*=\s*(?:[^"'=<>`\s]+|'[^']*'|"[^"]*"))?)*\s*\/?|\/[A-Za-z][A-Za-z0-9-]*\s*)>/;
const autolink = /^<(?:[a-zA-Z][a-zA-Z0-9+.-]{1,31}:|[^\s<>]*@)/;
const shortcode = /^:([a-z0-9_+-]{1,50}):/;
const knownElements = new Set([...inlineElements, ...blockElements, 'details', 'summary']);

/** Whether `<` would begin something that is read as more than text. */
function opensMarkup(rest: string, hasMore: boolean): boolean {
  const second = rest.charAt(1);
  if (second === '!' || second === '?') return true;
  const name = /^<\/?([a-zA-Z][\w-]*)/.exec(rest)?.[1];
  if (name === undefined) return /^<[^\s<>]*@/.test(rest);
  if (knownElements.has(name.toLowerCase()) || autolink.test(rest)) return true;
  const tag = htmlTag.exec(rest)?.[0];
  if (tag === undefined) return hasMore && !rest.includes('>');
  return /[\\`*_[\]&~:$!|{]/.test(tag);
}

/** Escapes what markdown would read as markup, and nothing that it would not. */
export function escapeText(text: string, around: Surroundings): string {
  const escaped = text.replace(special, (character, index: number) => {
    const before = index === 0 ? around.before : text.charAt(index - 1);
    const after = text.charAt(index + 1) || around.after.charAt(0);
    return needsEscape(character, before, after, text, index, around)
      ? character === '&'
        ? '&amp;'
        : `\\${character}`
      : character;
  });
  const safe = escaped.replaceAll('\r', '&#13;');
  return around.lineStart ? escapeLineStart(safe) : safe;
}

function needsEscape(
  character: string,
  before: string,
  after: string,
  text: string,
  index: number,
  around: Surroundings,
): boolean {
  switch (character) {
    case '\\':
      return after === '' || after === '\n' || punctuation.test(after);
    case '*':
      return !(space.test(before) && space.test(after));
    case '_':
      return !(space.test(before) && space.test(after));
    case '[':
    case '`':
      return true;
    case ']':
      return around.inLink;
    case '<':
      return opensMarkup(text.slice(index, index + 2000), text.length > index + 2000 || around.after !== '');
    case '&':
      return entity.test(text.slice(index, index + 40));
    case '~':
      return before === '~' || after === '~' || index === 0 || index === text.length - 1;
    case ':': {
      if (index === 0 && before === ']') return true;
      const name = shortcode.exec(`${text.slice(index, index + 60)}${around.after}`)?.[1];
      return name !== undefined && Object.hasOwn(nameToEmoji, name);
    }
    case '$':
      return before === '$' || after === '$';
    default:
      return index === text.length - 1 && after === '[';
  }
}

/** Escapes what would begin a block. */
function escapeLineStart(text: string): string {
  const first = text.charAt(0);
  if (!/[#\-+*>\d={|:]/.test(first)) return text;
  const number = /^(\d{1,9})([.)])(?=\s|$)/.exec(text);
  if (number !== null) return `${number[1]}\\${text.slice(number[1]?.length ?? 0)}`;
  const begins =
    /^(?:#{1,6}(?=\s|$)|[-+*](?=\s|$)|>|\{%|=+\s*$|-+\s*$|-[-\s]+$)/.test(text) || /^(?=.*-)[|:\-\s]+$/.test(text);
  return begins ? `\\${text}` : text;
}

/** An address inside `(...)` of a link. */
export function escapeAddress(address: string): string {
  const safe = address
    .replace(/\\(?=[!-/:-@[-`{-~])/g, '\\\\')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replace(/[\n\r]/g, (character) => encodeURIComponent(character));
  if (address === '') return '';
  let depth = 0;
  let balanced = true;
  for (const character of address) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) balanced = false;
  }
  if (balanced && depth === 0 && !/[\s<>\p{Cc}]/u.test(address) && !safe.endsWith('\\')) return safe;
  const bracketed = safe.replace(/[<>]/g, '\\$&');
  return `<${bracketed.endsWith('\\') && !bracketed.endsWith('\\\\') ? `${bracketed}\\` : bracketed}>`;
}

/** A title inside the quotes of a link or image; blank lines cannot stand there. */
export const escapeTitle = (title: string): string =>
  title
    .replace(/\\(?=[!-/:-@[-`{-~]|$)/g, '\\\\')
    .replace(/&(?=#?\w+;)/g, '&amp;')
    .replaceAll('"', '\\"')
    .replace(/\s*\n\s*/g, ' ');

export const escapeHtml = (text: string): string =>
  text
    .replace(/&(?=[#\w])/g, '&amp;')
    .replaceAll('<', '&#x3C;')
    .replaceAll('\r', '&#13;');

export const escapeAttribute = (text: string): string =>
  text
    .replace(/&(?=#?\w+(?:[^\w=]|$))/g, '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '&#10;')
    .replaceAll('\r', '&#13;');

/** Text between brackets that is not taken apart: alternative texts and derived labels. */
export const escapeLabel = (label: string): string =>
  label.replace(/\s*\n\s*/g, ' ').replace(/[\\`*_[\]<&~:$]/g, '\\$&');
