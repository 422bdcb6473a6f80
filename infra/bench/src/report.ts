import { cpus, totalmem } from 'node:os';

/** One line of the table. */
export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly target: string;
  readonly met: boolean;
}

/** `at least 0.5`: a figure that should be high. */
export const atLeast = (name: string, value: number, target: number, unit = ''): Figure => ({
  name,
  value: `${format(value)}${unit}`,
  target: `>= ${target}${unit}`,
  met: value >= target,
});
/** `at most 3`: a figure that should be low. */
export const atMost = (name: string, value: number, target: number, unit = ''): Figure => ({
  name,
  value: `${format(value)}${unit}`,
  target: `<= ${target}${unit}`,
  met: value <= target,
});
/** A fact that is either so or not. */
export const holds = (name: string, met: boolean): Figure => ({ name, value: met ? 'yes' : 'no', target: 'yes', met });
/** A figure without a budget. */
export const noted = (name: string, value: number, unit = ''): Figure => ({
  name,
  value: `${format(value)}${unit}`,
  target: '-',
  met: true,
});

const format = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);

/** The machine, so that a table can be read elsewhere. */
export const machine = (): string =>
  `${cpus().length} x ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;

/** A table in markdown. */
export const table = (figures: readonly Figure[]): string => {
  const rows = [
    ['Figure', 'Measured', 'Target', 'Met'],
    ...figures.map((figure) => [
      figure.name,
      figure.value,
      figure.target,
      figure.target === '-' ? '' : figure.met ? 'yes' : 'NO',
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [
    line(rows[0] ?? []),
    `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`,
    ...rows.slice(1).map(line),
  ].join('\n');
};
