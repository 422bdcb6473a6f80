import type {
  Block,
  ContentRef,
  Fragment,
  Table,
  TableDefinition,
  TableRecord,
  TableValue,
} from '@bindery/contracts/document';
import { plainParagraph } from '../../model/build.ts';
import { linkLabel } from '../parse/tag-voids.ts';
import type { WriteContext } from './context.ts';
import { escapeAttribute, escapeHtml } from './escape.ts';
import { writeCellBlocks } from './html-blocks.ts';
import { attribute } from './images.ts';
import { writeInlines } from './inlines.ts';
import { spansOf } from './table-spans.ts';

interface Grid {
  columns: TableDefinition[];
  records: TableRecord[];
  /** Ids of the records, in their order. */
  recordIds: string[];
  fragments: ReadonlyMap<string, Fragment>;
}

/** Rows in their order, and all columns: the visible ones first where the two orders disagree. */
function gridOf(table: Table): Grid {
  const { definition, records, view } = table.data;
  const shown = new Set(view.columns);
  const hidden = Object.keys(definition).filter((id) => !shown.has(id));
  const declared = Object.keys(definition);
  const visible = view.columns.filter((id) => Object.hasOwn(definition, id));
  const place = new Map(declared.map((id, index) => [id, index]));
  const inOrder = visible.every(
    (id, index) => index === 0 || (place.get(id) ?? 0) > (place.get(visible[index - 1] ?? '') ?? 0),
  );
  const ids = inOrder ? declared : [...visible, ...hidden];
  const rows = Object.entries(records).sort(([, one], [, other]) =>
    one.orderIndex < other.orderIndex ? -1 : one.orderIndex > other.orderIndex ? 1 : 0,
  );
  return {
    columns: ids.flatMap((id) => definition[id] ?? []),
    records: rows.map(([, record]) => record),
    recordIds: rows.map(([id]) => id),
    fragments: new Map(table.fragments.map((fragment) => [fragment.fragment ?? fragment.key ?? '', fragment])),
  };
}

/** The blocks of a text cell: those of its fragment, or its value as text. */
function cellBlocks(value: TableValue | undefined, grid: Grid): readonly Block[] {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'string')
    return [plainParagraph(typeof value === 'object' ? JSON.stringify(value) : String(value))];
  return grid.fragments.get(value)?.nodes ?? (value === '' ? [] : [plainParagraph(value)]);
}

const headerBlocks = (column: TableDefinition, grid: Grid): readonly Block[] =>
  grid.fragments.get(`header-${column.id}`)?.nodes ?? (column.title === '' ? [] : [plainParagraph(column.title)]);

/** Whether pipes and dashes can hold everything the table says. */
function fitsPipes(table: Table, grid: Grid): boolean {
  const { view, fullWidth, search, cellMerges } = table.data;
  if (view.type !== 'grid' || fullWidth !== undefined || search !== undefined || (cellMerges?.length ?? 0) > 0)
    return false;
  if (view.columnWidths !== undefined || view.stickyHeader !== undefined || view.stickyFirstColumn !== undefined)
    return false;
  if (view.columns.length !== grid.columns.length || grid.columns.length === 0) return false;
  if (view.hideHeader !== grid.columns.every((column) => column.title === '')) return false;
  const simple = (blocks: readonly Block[]) =>
    blocks.length === 0 ||
    (blocks.length === 1 && blocks[0]?.type === 'paragraph' && blocks[0].data?.align === undefined);
  return (
    grid.columns.every(
      (column) =>
        column.type === 'text' && column.verticalAlignment === undefined && simple(headerBlocks(column, grid)),
    ) &&
    grid.records.every((record) => grid.columns.every((column) => simple(cellBlocks(record.values[column.id], grid))))
  );
}

export function writeTable(table: Table, context: WriteContext): string {
  const grid = gridOf(table);
  return fitsPipes(table, grid) ? writePipes(grid, context) : writeHtml(table, grid, context);
}

function writePipes(grid: Grid, context: WriteContext): string {
  const inner = { ...context, oneLine: true };
  const cell = (blocks: readonly Block[]): string => {
    const [only] = blocks;
    return only?.type === 'paragraph' ? writeInlines(only.nodes, inner).replaceAll('|', '\\|') : '';
  };
  const rows = [
    grid.columns.map((column) => cell(headerBlocks(column, grid))),
    ...grid.records.map((record) => grid.columns.map((column) => cell(cellBlocks(record.values[column.id], grid)))),
  ];
  const compact = context.style.table === 'compact';
  const widths = grid.columns.map((_, index) =>
    compact ? 0 : Math.max(3, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const dashes = grid.columns.map((column, index) => {
    const width = Math.max(3, widths[index] ?? 3);
    const align = column.type === 'text' ? column.textAlignment : undefined;
    if (align === 'center') return `:${'-'.repeat(width - 2)}:`;
    if (align === 'right') return `${'-'.repeat(width - 1)}:`;
    return '-'.repeat(width);
  });
  const pad = (text: string, index: number): string => {
    const width = widths[index] ?? 0;
    const column = grid.columns[index];
    const align = column?.type === 'text' ? column.textAlignment : undefined;
    if (align === 'right') return text.padStart(width);
    return align === 'center'
      ? text.padStart(text.length + Math.floor((width - text.length) / 2)).padEnd(width)
      : text.padEnd(width);
  };
  const line = (cells: readonly string[]): string => `| ${cells.map(pad).join(' | ')} |`;
  const [header = [], ...body] = rows;
  return [line(header), `| ${dashes.join(' | ')} |`, ...body.map(line)].join('\n');
}

function headerAttributes(column: TableDefinition, table: Table): string {
  const { view } = table.data;
  let out = '';
  if (view.type === 'grid' && view.columnWidths?.[column.id] !== undefined)
    out += attribute('width', String(view.columnWidths[column.id]));
  if (column.type === 'text' && column.textAlignment !== undefined && column.textAlignment !== 'left')
    out += attribute('align', column.textAlignment);
  if (column.type === 'text' && column.verticalAlignment !== undefined)
    out += attribute('valign', column.verticalAlignment);
  if (!view.columns.includes(column.id)) out += ' data-hidden';
  if (view.type === 'cards') {
    if (view.targetDefinition === column.id) out += ' data-card-target';
    if (view.coverDefinition === column.id) out += ' data-card-cover';
    if (view.coverDefinitionDark === column.id) out += ' data-card-cover-dark';
  }
  if (column.type !== 'text') out += attribute('data-type', column.type);
  if ('multiple' in column && column.multiple === true) out += ' data-multiple';
  return column.type === 'rating' ? out + attribute('data-max', String(column.max)) : out;
}

/** The options of a select column, which its header carries. */
function writeOptions(column: TableDefinition): string {
  if (column.type !== 'select' || column.options.length === 0) return '';
  const options = column.options.map(
    ({ value, label, color }) =>
      `<option${attribute('value', value)}${attribute('label', label)}${attribute('color', color)}></option>`,
  );
  return `<select>${options.join('')}</select>`;
}

function tableAttributes(table: Table): string {
  const { view, fullWidth, search } = table.data;
  let out = '';
  if (view.type === 'cards') {
    if (view.cardSize === 'large') out += attribute('data-card-size', 'large');
    if (view.wrap !== undefined) out += attribute('data-card-wrap', String(view.wrap));
    out += attribute('data-view', 'cards');
  } else {
    if (view.hideHeader) out += ' data-header-hidden';
    if (view.stickyHeader !== undefined) out += attribute('data-sticky-header', String(view.stickyHeader));
    if (view.stickyFirstColumn !== undefined)
      out += attribute('data-sticky-first-column', String(view.stickyFirstColumn));
  }
  if (fullWidth !== undefined) out += attribute('data-full-width', String(fullWidth));
  return search === undefined ? out : out + attribute('data-search', String(search));
}

function writeHtml(table: Table, grid: Grid, context: WriteContext): string {
  const inner = { ...context, oneLine: true };
  const head = grid.columns.map(
    (column) =>
      `<th${headerAttributes(column, table)}>${writeCellBlocks(headerBlocks(column, grid), inner)}${writeOptions(column)}</th>`,
  );
  const named = grid.records.map((record, row) => [grid.recordIds[row] ?? '', record] as const);
  const spans = spansOf(grid.columns, named, table.data.cellMerges);
  const rows = grid.records.map((record, row) => {
    const cells = grid.columns.map((column, at) => {
      const span = spans.get(`${row}/${at}`);
      if (span === 'covered') return '';
      const wide = span !== undefined && span.colSpan > 1 ? attribute('colspan', String(span.colSpan)) : '';
      const high = span !== undefined && span.rowSpan > 1 ? attribute('rowspan', String(span.rowSpan)) : '';
      return `<td${wide}${high}>${writeCell(record.values[column.id], column, grid, inner)}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<table${tableAttributes(table)}><thead><tr>${head.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function writeCell(value: TableValue | undefined, column: TableDefinition, grid: Grid, context: WriteContext): string {
  if (value === undefined || value === null) return '';
  const kind = column.type === 'files' ? 'file' : column.type === 'image' ? 'image' : 'page';
  const link = (ref: ContentRef): string => {
    const href = context.address(ref, kind);
    return `<a href="${escapeAttribute(href)}">${escapeHtml(linkLabel(href))}</a>`;
  };
  switch (column.type) {
    case 'content-ref':
    case 'image':
    case 'files':
      return refsIn(value).map(link).join(', ');
    case 'select':
      return (Array.isArray(value) ? value : [value])
        .map((one) => {
          const label = column.options.find((known) => known.value === one)?.label ?? String(one);
          return `<span data-option="${escapeAttribute(String(one))}">${escapeHtml(label)}</span>`;
        })
        .join('');
    case 'users':
      return escapeHtml(Array.isArray(value) ? value.join(', ') : String(value));
    case 'text':
      return writeCellBlocks(cellBlocks(value, grid), context);
    default:
      return escapeHtml(String(value));
  }
}

/** The references in the value of a cell. */
export function refsIn(value: TableValue): ContentRef[] {
  if (Array.isArray(value)) return value.flatMap((one) => (typeof one === 'string' ? [] : refsIn(one)));
  if (value === null || typeof value !== 'object') return [];
  return 'kind' in value ? [value] : [value.ref];
}
