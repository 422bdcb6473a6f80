import type { StateBlock } from 'markdown-it';
import { tagKind } from '../dialect.ts';
import type { TagSpan } from './scan.ts';
import type { PageEnv } from './tokenizer.ts';

/** Widest table that is read as one; the contract allows no more columns. */
export const maxColumns = 1000;

/** Whether the lines up to `close` all belong to the container that is being read, i.e. none is outdented. */
export function staysInside(state: StateBlock, from: number, close: number): boolean {
  for (let line = from; line <= close; line++)
    if (!state.isEmpty(line) && (state.sCount[line] ?? 0) < state.blkIndent) return false;
  return true;
}

/** Reads lines as blocks of their own, as markdown-it does for its containers. */
export function readInside(state: StateBlock, from: number, to: number): void {
  const { parentType, lineMax, tight } = state;
  state.parentType = 'block_tag';
  state.lineMax = to;
  if (from < to) state.md.block.tokenize(state, from, to);
  state.parentType = parentType;
  state.lineMax = lineMax;
  state.tight = tight;
}

const isIndentedCode = (state: StateBlock, line: number): boolean => (state.sCount[line] ?? 0) - state.blkIndent >= 4;

const lineText = (state: StateBlock, line: number): string =>
  state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line]);

/** `{% name %}` ... `{% endname %}`: tokens `tag_open` and `tag_close` around the blocks inside. */
export function blockTagRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (isIndentedCode(state, startLine)) return false;
  const position = (state.bMarks[startLine] ?? 0) + (state.tShift[startLine] ?? 0);
  if (!state.src.startsWith('{%', position)) return false;
  const span: TagSpan | undefined = (state.env as PageEnv).scan.spans.get(startLine);
  if (span === undefined || span.last >= endLine) return false;
  const close =
    span.close !== undefined && span.close < endLine && staysInside(state, span.last + 1, span.close)
      ? span.close
      : undefined;
  if (close === undefined && tagKind(span.name)?.standalone !== true) return false;
  if (silent) return true;
  const open = state.push('tag_open', '', 1);
  open.meta = { span };
  open.map = [startLine, span.last + 1];
  if (close !== undefined) readInside(state, span.last + 1, close);
  state.push('tag_close', '', -1).map = close === undefined ? null : [close, close + 1];
  state.line = (close ?? span.last) + 1;
  return true;
}

/** `$$` alone on a line, up to the next such line. */
export function mathRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (isIndentedCode(state, startLine) || lineText(state, startLine).trimEnd() !== '$$') return false;
  let line = startLine + 1;
  while (line < endLine && lineText(state, line).trimEnd() !== '$$') {
    if (!state.isEmpty(line) && (state.sCount[line] ?? 0) < state.blkIndent) return false;
    line++;
  }
  if (line >= endLine) return false;
  if (silent) return true;
  const token = state.push('math', '', 0);
  token.content = state.getLines(startLine + 1, line, state.blkIndent, false);
  token.map = [startLine, line + 1];
  state.line = line + 1;
  return true;
}

const definition = /^\[\^([^\]\s[^]{1,100})\]:[ \t]*/;

/** `[^label]: text`, continued by lines that are indented by four. */
export function footnoteRule(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (isIndentedCode(state, startLine)) return false;
  const match = definition.exec(lineText(state, startLine));
  const label = match?.[1];
  if (match === null || label === undefined) return false;
  if (state.parentType === 'footnote') return false;
  const footnotes = (state.env as PageEnv).footnotes;
  if (!silent && footnotes.has(label)) return false;
  if (silent) return true;
  footnotes.add(label);
  const open = state.push('footnote_open', '', 1);
  open.meta = { label };
  const saved = {
    bMark: state.bMarks[startLine] ?? 0,
    tShift: state.tShift[startLine] ?? 0,
    sCount: state.sCount[startLine] ?? 0,
    blkIndent: state.blkIndent,
    parentType: state.parentType,
  };
  const indent = saved.blkIndent + 4;
  state.bMarks[startLine] = saved.bMark + saved.tShift + match[0].length;
  state.tShift[startLine] = 0;
  state.sCount[startLine] = indent;
  state.blkIndent = indent;
  state.parentType = 'footnote';
  state.md.block.tokenize(state, startLine, endLine);
  state.blkIndent = saved.blkIndent;
  state.parentType = saved.parentType;
  state.bMarks[startLine] = saved.bMark;
  state.tShift[startLine] = saved.tShift;
  state.sCount[startLine] = saved.sCount;
  state.push('footnote_close', '', -1);
  if (state.line <= startLine) state.line = startLine + 1;
  return true;
}
