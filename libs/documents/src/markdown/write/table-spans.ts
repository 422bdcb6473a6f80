import type { CellMerge, TableDefinition, TableRecord } from '@bindery/contracts/document';

/** How far a cell goes, or `covered` by another one. */
export type CellSpan = 'covered' | { readonly rowSpan: number; readonly colSpan: number };

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/**
 * The cells of a table that go over several rows and columns, as `<td>` can say it, by `row/column`. Merges that overlap
 * an earlier one, or would cover a cell that says something, are left out: the text counts.
 */
export function spansOf(
  columns: readonly TableDefinition[],
  records: readonly (readonly [id: string, record: TableRecord])[],
  merges: readonly CellMerge[] = [],
): ReadonlyMap<string, CellSpan> {
  const columnAt = new Map(columns.map(({ id }, index) => [id, index]));
  const rowAt = new Map(records.map(([id], index) => [id, index]));
  const spans = new Map<string, CellSpan>();
  for (const { anchor, ...wanted } of merges) {
    const row = rowAt.get(anchor.record);
    const column = columnAt.get(anchor.column);
    if (row === undefined || column === undefined) continue;
    const rowSpan = Math.min(wanted.rowSpan, records.length - row);
    const colSpan = Math.min(wanted.colSpan, columns.length - column);
    const cells: string[] = [];
    let fits = rowSpan > 1 || colSpan > 1;
    for (let y = row; fits && y < row + rowSpan; y += 1) {
      for (let x = column; fits && x < column + colSpan; x += 1) {
        const own = y === row && x === column;
        fits = !spans.has(`${y}/${x}`) && (own || isEmpty(records[y]?.[1].values[columns[x]?.id ?? '']));
        cells.push(`${y}/${x}`);
      }
    }
    if (!fits) continue;
    for (const cell of cells) spans.set(cell, 'covered');
    spans.set(`${row}/${column}`, { rowSpan, colSpan });
  }
  return spans;
}
