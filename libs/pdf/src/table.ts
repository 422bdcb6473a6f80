import { colors, type Paper, type Piece } from './paper.ts';

const padding = 4;
const points = 9;

/** Rows of cells, the first one the heads of the columns when `head`. */
export interface TableContent {
  readonly rows: readonly (readonly (readonly Piece[])[])[];
  readonly head: boolean;
}

const textOf = (cell: readonly Piece[]): string => cell.map(({ text }) => text).join('');

/** Draws a table; one that does not fit across the page is written as a list of its cells instead, so that nothing is lost. */
export const drawTable = (paper: Paper, { rows, head }: TableContent): void => {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  if (columns === 0) return;
  const weights = Array.from({ length: columns }, (_, at) =>
    Math.min(60, Math.max(6, ...rows.map((row) => textOf(row[at] ?? []).length))),
  );
  const total = weights.reduce((sum, it) => sum + it, 0);
  const widths = weights.map((weight) => (paper.width * weight) / total);
  const heights = rows.map(
    (row) =>
      Math.max(...widths.map((width, at) => paper.heightOf(textOf(row[at] ?? []), points, width - 2 * padding))) +
      2 * padding +
      points,
  );
  const most = (paper.bottom - 100) / 2;
  if (Math.min(...widths) < 32 || heights.some((height) => height > most)) {
    const heads = head ? (rows[0] ?? []) : [];
    for (const row of head ? rows.slice(1) : rows) {
      for (const [at, cell] of row.entries()) {
        if (cell.length === 0) continue;
        const name = textOf(heads[at] ?? []);
        const label: readonly Piece[] = name === '' ? [] : [{ text: `${name}: `, font: 'bold' }];
        paper.paragraph([...label, ...cell], { size: points, after: 2 });
      }
      paper.space(6);
    }
    return;
  }
  const { doc } = paper;
  const line = (y: number): void => {
    doc.save().moveTo(paper.left, y).lineTo(paper.right, y).lineWidth(0.5).stroke(colors.rule).restore();
  };
  for (const [index, row] of rows.entries()) {
    paper.need((heights[index] ?? 0) + (index === 0 ? (heights[1] ?? 0) : 0));
    const top = doc.y;
    if (index === 0) {
      if (head)
        doc
          .save()
          .rect(paper.left, top, paper.width, (heights[0] ?? 0) - points)
          .fill(colors.panel)
          .restore();
      line(top);
    }
    let [x, end] = [paper.left, top + points + 2 * padding];
    for (const [at, width] of widths.entries()) {
      doc.y = top + padding;
      paper.paragraph(row[at] ?? [], { size: points, x: x + padding, width: width - 2 * padding, after: 0 });
      end = Math.max(end, doc.y + padding);
      x += width;
    }
    doc.y = end;
    doc.x = paper.left;
    line(end);
  }
  paper.space(10);
};
