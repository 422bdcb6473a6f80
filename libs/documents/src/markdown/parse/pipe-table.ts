import type { Fragment, Phrasing, Table, TableDefinition, TableRecord, TableValue } from '@bindery/contracts/document';
import type { Token } from 'markdown-it';
import { fragment, paragraph } from '../../model/build.ts';
import { noteStyle } from './blocks.ts';
import type { ParseContext } from './context.ts';
import { readInlines } from './inlines.ts';
import { noteEmphasis } from './style.ts';

/** Names of a table's columns, rows and cells follow from their position. */
export const columnId = (index: number): string => `c${index}`;
export const recordId = (index: number): string => `r${index}`;
export const cellId = (row: number, column: number): string => `${recordId(row)}${columnId(column)}`;

const alignments = { 'text-align:left': 'left', 'text-align:right': 'right', 'text-align:center': 'center' } as const;

/** A table of pipes and dashes. */
export function readPipeTable(open: Token, inside: readonly Token[], context: ParseContext): Table {
  const definition: Record<string, TableDefinition> = {};
  const records: Record<string, TableRecord> = {};
  const fragments: Fragment[] = [];
  const columns: string[] = [];
  let row = -1;
  let column = 0;
  let values: Record<string, TableValue> = {};
  for (const [index, token] of inside.entries()) {
    if (token.type === 'tr_open') {
      column = 0;
      if (columns.length === 0) continue;
      row++;
      values = {};
      records[recordId(row)] = { orderIndex: orderIndex(row), values };
    }
    if (token.type !== 'th_open' && token.type !== 'td_open') continue;
    const children = inside[index + 1]?.children ?? [];
    noteEmphasis(children, context);
    const nodes = readInlines(children, context);
    const id = columnId(column);
    if (token.type === 'th_open') {
      columns.push(id);
      const textAlignment = alignments[String(token.attrGet('style')) as keyof typeof alignments] ?? 'left';
      definition[id] = { id, title: titleOf(nodes), type: 'text', textAlignment };
      if (!isPlain(nodes)) fragments.push(fragment(`header-${id}`, [paragraph(nodes)]));
    } else if (nodes.length > 0) {
      values[id] = cellId(row, column);
      fragments.push(fragment(cellId(row, column), [paragraph(nodes)]));
    }
    column++;
  }
  noteStyle(context, 'table', isCompact(open, context) ? 'compact' : undefined);
  return {
    object: 'block',
    type: 'table',
    isVoid: true,
    data: {
      view: { type: 'grid', columns, hideHeader: columns.every((id) => definition[id]?.title === '') },
      records,
      definition,
    },
    fragments,
  };
}

/** Rows sort as text by this. */
export const orderIndex = (row: number): string => String(row).padStart(6, '0');

const isPlain = (nodes: readonly Phrasing[]): boolean =>
  nodes.every((node) => node.object === 'text' && node.leaves.every((leaf) => leaf.marks.length === 0));

/** The text of a column's header; what markup it has is kept as a fragment. */
export const titleOf = (nodes: readonly Phrasing[]): string =>
  nodes
    .map((node) =>
      node.object === 'text'
        ? node.leaves.map((leaf) => leaf.text).join('')
        : node.type === 'link'
          ? titleOf(node.nodes)
          : '',
    )
    .join('');

/**
 * Whether the cells of the source are not padded to the width of their columns. False also for tables that look the same
 * either way, so that what is written is read back with the same style.
 */
function isCompact(open: Token, context: ParseContext): boolean {
  const [first, end] = open.map ?? [0, 0];
  const rows = context.env.scan.lines.slice(first, end).map((line) =>
    line
      .replace(/^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?\|?/, '')
      .replace(/\|?\s*$/, '')
      .split(/(?<!\\)\|/),
  );
  const lengths = (column: number) => new Set(rows.map((row) => row[column]?.length ?? 0));
  const columns = (rows[0] ?? []).map((_, column) => column);
  const ragged = columns.slice(0, -1).some((column) => lengths(column).size > 1);
  const texts = rows.filter((_, index) => index !== 1);
  const alike = columns.every((column) => texts.every((row) => (row[column] ?? '').trim().length === 3));
  return ragged && !alike;
}
