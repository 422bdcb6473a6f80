import type { StateBlock } from 'markdown-it';

/** Longer rows are split at every pipe. */
const maxRow = 10_000;
/** Tables of one page in which pipes are hidden; each costs a copy of the page. */
const maxTables = 100;
/** Stands for a pipe of inline code while a table is split into cells; no text has it. */
const hidden = '\uFDD0';

interface Row {
  readonly cells: number;
  /** Places of the pipes in inline code. */
  readonly inCode: readonly number[];
}

interface TickRun {
  readonly at: number;
  readonly length: number;
  /** Where the next run of the same length begins; undefined when there is none. */
  readonly close: number | undefined;
}

/** Runs of backticks by place. */
function tickRuns(row: string): ReadonlyMap<number, TickRun> {
  const runs = new Map<number, TickRun>();
  const next = new Map<number, number>();
  for (const { 0: ticks, index } of [...row.matchAll(/`+/g)].reverse()) {
    runs.set(index, { at: index, length: ticks.length, close: next.get(ticks.length) });
    next.set(ticks.length, index);
  }
  return runs;
}

/** Cells of a row, with the pipes of inline code as separators (as GFM has it) or as text. */
function split(row: string, codeIsText: boolean): Row {
  const runs = codeIsText ? tickRuns(row) : undefined;
  const inCode: number[] = [];
  let pipes = 0;
  for (let at = 0; at < row.length; at += 1) {
    const char = row[at];
    if (char === '\\') at += 1;
    else if (char === '|') pipes += 1;
    else {
      const run = runs?.get(at);
      if (run === undefined) continue;
      const { length, close } = run;
      for (let inside = at + length; inside < (close ?? 0); inside += 1)
        if (row[inside] === '|' && row[inside - 1] !== '\\') inCode.push(inside);
      at = (close ?? at) + length - 1;
    }
  }
  return { cells: pipes + 1 - Number(row.startsWith('|')) - Number(/(?<!\\)\|$/.test(row)), inCode };
}

/**
 * Pipes of inline code that would make cells for which the table has no column, so that their text would be lost. A row
 * that fits as it is, or fits neither way, has none.
 */
export function codePipes(row: string, columns: number): readonly number[] {
  if (row.length > maxRow || !row.includes('`') || split(row, false).cells <= columns) return [];
  const { cells, inCode } = split(row, true);
  return cells <= columns ? inCode : [];
}

type BlockRule = (state: StateBlock, startLine: number, endLine: number, silent: boolean) => boolean;

/** Wraps the rule of pipe tables: rows that have too many cells because of pipes in inline code are read with those as text. */
export const withCodePipes =
  (rule: BlockRule): BlockRule =>
  (state, startLine, endLine, silent) => {
    const bounds = (line: number): readonly [number, number] => {
      const start = (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
      const text = state.src.slice(start, state.eMarks[line]);
      return [start + text.length - text.trimStart().length, start + text.trimEnd().length];
    };
    const columns = split(state.src.slice(...bounds(startLine + 1)), false).cells;
    const places: number[] = [];
    for (let line = startLine; line < endLine && !state.isEmpty(line); line += 1) {
      const [start, end] = bounds(line);
      for (const place of codePipes(state.src.slice(start, end), columns)) places.push(start + place);
    }
    const env = state.env as { codePipeTables?: number };
    const tables = (env.codePipeTables ?? 0) + 1;
    if (places.length === 0 || tables > maxTables || state.src.includes(hidden))
      return rule(state, startLine, endLine, silent);
    env.codePipeTables = tables;
    const { src } = state;
    const before = state.tokens.length;
    const pieces: string[] = [];
    let last = 0;
    for (const place of places) {
      pieces.push(src.slice(last, place), hidden);
      last = place + 1;
    }
    state.src = pieces.join('') + src.slice(last);
    try {
      return rule(state, startLine, endLine, silent);
    } finally {
      state.src = src;
      for (const token of state.tokens.slice(before)) token.content = token.content.replaceAll(hidden, '|');
    }
  };
