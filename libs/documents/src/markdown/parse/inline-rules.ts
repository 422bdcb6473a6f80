import { nameToEmoji } from 'gemoji';
import type { StateInline } from 'markdown-it';
import type { PageEnv } from './tokenizer.ts';

const reference = /\[\^([^\]\s[^]{1,100})\]/y;

/** `[^label]` where the label is defined. */
export function footnoteReferenceRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x5b || state.src.charCodeAt(state.pos + 1) !== 0x5e) return false;
  reference.lastIndex = state.pos;
  const label = reference.exec(state.src)?.[1];
  if (label === undefined || reference.lastIndex > state.posMax) return false;
  if (!(state.env as PageEnv).footnotes.has(label)) return false;
  if (!silent) state.push('footnote_reference', '', 0).meta = { label };
  state.pos = reference.lastIndex;
  return true;
}

/** `$$formula$$` inside text, on one line, without `$` in the formula. */
export function inlineMathRule(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  if (src.charCodeAt(pos) !== 0x24 || src.charCodeAt(pos + 1) !== 0x24) return false;
  let end = pos + 2;
  while (end < posMax && src.charCodeAt(end) !== 0x24 && src.charCodeAt(end) !== 0x0a) end++;
  if (end === pos + 2 || end + 1 >= posMax || src.charCodeAt(end) !== 0x24 || src.charCodeAt(end + 1) !== 0x24)
    return false;
  if (!silent) state.push('inline_math', '', 0).content = src.slice(pos + 2, end);
  state.pos = end + 2;
  return true;
}

const shortcode = /:([a-z0-9_+-]{1,50}):/y;

/** `:smile:`, for names that an emoji has. */
export function emojiRule(state: StateInline, silent: boolean): boolean {
  if (state.src.charCodeAt(state.pos) !== 0x3a) return false;
  shortcode.lastIndex = state.pos;
  const name = shortcode.exec(state.src)?.[1];
  if (name === undefined || shortcode.lastIndex > state.posMax || !Object.hasOwn(nameToEmoji, name)) return false;
  const emoji = nameToEmoji[name];
  if (emoji === undefined) return false;
  if (!silent) {
    const token = state.push('emoji', '', 0);
    token.content = codeOf(emoji);
    token.markup = `:${name}:`;
  }
  state.pos = shortcode.lastIndex;
  return true;
}

/** The code points of an emoji in hexadecimal, joined by dashes: how documents name emojis. */
export const codeOf = (emoji: string): string =>
  [...emoji].map((character) => (character.codePointAt(0) ?? 0).toString(16)).join('-');
