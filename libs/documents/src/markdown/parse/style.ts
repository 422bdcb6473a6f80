import type { Token } from 'markdown-it';
import type { ParseContext } from './context.ts';

/**
 * Remembers the marker of the first emphasis that could have been written either way: plain text inside, and not glued to
 * a word or other markup. The writer is free in the same places, so what it writes is read back with the same style.
 */
export function noteEmphasis(tokens: readonly Token[], context: ParseContext): void {
  if (context.seenStyles.has('emphasis')) return;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'em_open') depth++;
    if (token.type === 'em_close') depth--;
    if (depth > 1) continue;
    if (token.type !== 'em_open' || tokens[index + 2]?.type !== 'em_close') continue;
    const before = tokens[index - 1];
    const inside = tokens[index + 1];
    const after = tokens[index + 3];
    const free =
      inside?.type === 'text' &&
      /^[\p{L}\p{N}](?:.*[\p{L}\p{N}])?$/su.test(inside.content) &&
      (before === undefined || (before.type === 'text' && / $/.test(before.content))) &&
      (after === undefined || (after.type === 'text' && /^[ .,;:!?)]/.test(after.content)));
    if (!free) continue;
    context.seenStyles.add('emphasis');
    if (token.markup === '*') context.style.emphasis = '*';
    return;
  }
}
