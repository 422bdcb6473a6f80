import type { CellMerge } from '@bindery/contracts/document';
import { maxColumns } from './block-rules.ts';
import type { HtmlElement } from './html.ts';

/** Rows or columns that one cell goes over (reference: cellMerges). */
const maxSpan = 50;

/** A cell with the column in which it stands. */
export interface PlacedCell {
  readonly cell: HtmlElement;
  readonly column: number;
}

const spanOf = (cell: HtmlElement, name: 'colspan' | 'rowspan'): number => {
  const value = Number(cell.attributes[name] ?? 1);
  return Number.isInteger(value) ? Math.min(Math.max(value, 1), maxSpan) : 1;
};

/** The columns of a row of headers: a header that goes over several leaves those after the first without one. */
export const spreadHeaders = (
  headers: readonly HtmlElement[],
  columns: number,
): readonly (HtmlElement | undefined)[] => {
  let room = columns - headers.length;
  return headers.flatMap((header) => {
    const more = Math.max(0, Math.min(spanOf(header, 'colspan') - 1, room));
    room -= more;
    return [header, ...Array.from({ length: more }, () => undefined)];
  });
};

/** Where the cells of a table are. */
export interface PlacedCells {
  readonly rows: readonly (readonly PlacedCell[])[];
  readonly width: number;
  readonly merges: readonly CellMerge[];
}

/**
 * Puts the cells of each row where they stand, past those that reach into it from rows above or go over several columns.
 * Nothing goes over columns that no row has a cell in, and a table that would become too wide is read without spans.
 * @param columns cells of the longest row
 * @param anchor names of the row and column of a cell
 */
export function placeCells(
  rows: readonly (readonly HtmlElement[])[],
  columns: number,
  anchor: (row: number, column: number) => CellMerge['anchor'],
): PlacedCells {
  const placed = place(rows, columns, anchor, spanOf);
  return placed.width <= maxColumns ? placed : place(rows, columns, anchor, () => 1);
}

function place(
  rows: readonly (readonly HtmlElement[])[],
  columns: number,
  anchor: (row: number, column: number) => CellMerge['anchor'],
  spans: typeof spanOf,
): PlacedCells {
  /** By column: the first row that is free again. */
  const freeFrom: number[] = [];
  const merges: CellMerge[] = [];
  let width = 0;
  const placed = rows.map((cells, row) => {
    let column = 0;
    return cells.map((cell): PlacedCell => {
      while ((freeFrom[column] ?? 0) > row) column += 1;
      const at = column;
      const rowSpan = Math.min(spans(cell, 'rowspan'), rows.length - row);
      const wanted = Math.min(spans(cell, 'colspan'), columns - at);
      let colSpan = 1;
      while (colSpan < wanted && (freeFrom[at + colSpan] ?? 0) <= row) colSpan += 1;
      for (let covered = at; covered < at + colSpan; covered += 1) freeFrom[covered] = row + rowSpan;
      if (rowSpan > 1 || colSpan > 1) merges.push({ anchor: anchor(row, at), rowSpan, colSpan });
      column += colSpan;
      width = Math.max(width, column);
      return { cell, column: at };
    });
  });
  return { rows: placed, width, merges };
}
