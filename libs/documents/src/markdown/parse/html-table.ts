import type {
  ContentRef,
  Fragment,
  SelectOption,
  Table,
  TableCardsView,
  TableDefinition,
  TableGridView,
  TableRecord,
  TableValue,
} from '@bindery/contracts/document';
import { fragment, present } from '../../model/build.ts';
import { isSafeUrl } from '../dialect.ts';
import type { ParseContext } from './context.ts';
import { childNamed, type HtmlElement, type HtmlNode, isElement, textOf } from './html.ts';
import { readCellBlocks } from './html-blocks.ts';
import { cellId, columnId, orderIndex, recordId } from './pipe-table.ts';
import { placeCells, spreadHeaders } from './table-spans.ts';

const elementsNamed = (element: HtmlElement | undefined, ...names: string[]): HtmlElement[] =>
  element?.children.filter((node): node is HtmlElement => isElement(node) && names.includes(node.name)) ?? [];

/** An HTML table, with the attributes of the `<div>` around it: a grid, or cards. */
export function readHtmlTable(table: HtmlElement, outer: HtmlElement['attributes'], context: ParseContext): Table {
  const head = childNamed(table, 'thead');
  const body = childNamed(table, 'tbody');
  const rows = [...elementsNamed(body, 'tr'), ...elementsNamed(table, 'tr')];
  const headRow = elementsNamed(head, 'tr')[0];
  const firstIsHead = headRow === undefined && rows[0] !== undefined && elementsNamed(rows[0], 'td').length === 0;
  const headRowCells = elementsNamed(headRow ?? (firstIsHead ? rows[0] : undefined), 'th', 'td');
  const records = firstIsHead ? rows.slice(1) : rows;
  const cellsOfRows = records.map((row) => elementsNamed(row, 'td', 'th'));
  const columns = cellsOfRows.reduce((most, { length }) => Math.max(most, length), headRowCells.length);
  const headers = spreadHeaders(headRowCells, columns);
  const placed = placeCells(cellsOfRows, columns, (row, column) => ({
    record: recordId(row),
    column: columnId(column),
  }));
  const width = Math.max(headers.length, placed.width);
  const fragments: Fragment[] = [];
  const definition: Record<string, TableDefinition> = {};
  const visible: string[] = [];
  for (let column = 0; column < width; column++) {
    const header = headers[column];
    const id = columnId(column);
    definition[id] = definitionOf(id, header);
    const title = titleNodes(header);
    if (title.some(isElement)) fragments.push(fragment(`header-${id}`, readCellBlocks(title, context)));
    if (header?.attributes['data-hidden'] === undefined) visible.push(id);
  }
  const data: Record<string, TableRecord> = {};
  for (const [row, cells] of placed.rows.entries()) {
    const values: Record<string, TableValue> = {};
    for (const { column, cell } of cells) {
      const id = columnId(column);
      const kind = definition[id];
      const value = kind && cellValue(cell, kind, cellId(row, column), fragments, context);
      if (value !== undefined) values[id] = value;
    }
    data[recordId(row)] = { orderIndex: orderIndex(row), values };
  }
  const flag = (name: string) => {
    const value = table.attributes[name] ?? outer[name];
    return value === undefined ? undefined : value !== 'false';
  };
  return {
    object: 'block',
    type: 'table',
    isVoid: true,
    data: {
      view: viewOf(table, headers, visible, headRow === undefined && !firstIsHead),
      records: data,
      definition,
      ...(placed.merges.length === 0 ? {} : { cellMerges: [...placed.merges] }),
      ...present<{ fullWidth?: boolean; search?: boolean }>({
        fullWidth: flag('data-full-width'),
        search: flag('data-search'),
      }),
    },
    fragments,
  };
}

function viewOf(
  table: HtmlElement,
  headers: readonly (HtmlElement | undefined)[],
  columns: string[],
  noHead: boolean,
): TableGridView | TableCardsView {
  const named = (attribute: string): string | undefined => {
    const index = headers.findIndex((header) => header?.attributes[attribute] !== undefined);
    return index < 0 ? undefined : columnId(index);
  };
  const attributes = table.attributes;
  if (attributes['data-view'] === 'cards') {
    const wrap = attributes['data-card-wrap'];
    return {
      type: 'cards',
      cardSize: attributes['data-card-size'] === 'large' ? 'large' : 'medium',
      columns,
      ...present<Partial<TableCardsView>>({
        targetDefinition: named('data-card-target'),
        coverDefinition: named('data-card-cover'),
        coverDefinitionDark: named('data-card-cover-dark'),
        wrap: wrap === undefined ? undefined : wrap !== 'false',
      }),
    } as TableCardsView;
  }
  const widths = headers.flatMap((header, index) => {
    const width = Number(header?.attributes.width ?? Number.NaN);
    return Number.isFinite(width) ? [[columnId(index), width] as const] : [];
  });
  const flag = (name: string): boolean | undefined =>
    attributes[name] === undefined ? undefined : attributes[name] !== 'false';
  return {
    type: 'grid',
    columns,
    hideHeader: noHead || attributes['data-header-hidden'] !== undefined,
    ...present<Partial<TableGridView>>({
      columnWidths: widths.length === 0 ? undefined : Object.fromEntries(widths),
      stickyHeader: flag('data-sticky-header'),
      stickyFirstColumn: flag('data-sticky-first-column'),
    }),
  } as TableGridView;
}

/** What a header shows; the options of a select column stand beside it. */
const titleNodes = (header: HtmlElement | undefined): HtmlNode[] =>
  header?.children.filter((node) => !isElement(node) || node.name !== 'select') ?? [];

const optionsOf = (header: HtmlElement | undefined): SelectOption[] =>
  elementsNamed(elementsNamed(header, 'select')[0], 'option').map(({ attributes, children }) => ({
    value: attributes.value ?? '',
    label: attributes.label ?? textOf(children),
    color: attributes.color ?? 'default',
  }));

function definitionOf(id: string, header: HtmlElement | undefined): TableDefinition {
  const attributes = header?.attributes ?? {};
  const base = { id, title: textOf(titleNodes(header)).trim() };
  const multiple = attributes['data-multiple'] === undefined ? {} : { multiple: true };
  switch (attributes['data-type']) {
    case 'number':
    case 'checkbox':
    case 'files':
    case 'content-ref':
    case 'image':
      return { ...base, type: attributes['data-type'] };
    case 'users':
      return { ...base, type: 'users', ...multiple };
    case 'rating':
      return { ...base, type: 'rating', max: Number(attributes['data-max'] ?? 5) || 5 };
    case 'select':
      return { ...base, type: 'select', ...multiple, options: optionsOf(header) };
    default: {
      const textAlignment = (['center', 'right', 'left'] as const).find((one) => one === attributes.align) ?? 'left';
      const verticalAlignment = (['top', 'middle', 'bottom'] as const).find((one) => one === attributes.valign);
      return { ...base, type: 'text', textAlignment, ...present({ verticalAlignment }) } as TableDefinition;
    }
  }
}

const links = (cell: HtmlElement, context: ParseContext, kind: 'page' | 'file' | 'image'): ContentRef[] =>
  linkTargets(cell.children)
    .filter(isSafeUrl)
    .map((href) => context.resolve(href, kind));

const linkTargets = (nodes: readonly HtmlNode[]): string[] =>
  nodes.filter(isElement).flatMap((element) => {
    const href = element.name === 'img' ? element.attributes.src : element.attributes.href;
    return href === undefined ? linkTargets(element.children) : [href];
  });

function cellValue(
  cell: HtmlElement,
  kind: TableDefinition,
  name: string,
  fragments: Fragment[],
  context: ParseContext,
): TableValue | undefined {
  const text = textOf(cell.children).trim();
  const asText = (): TableValue | undefined => {
    const nodes = readCellBlocks(cell.children, context);
    if (nodes.length === 0) return undefined;
    fragments.push(fragment(name, nodes));
    return name;
  };
  switch (kind.type) {
    case 'number':
    case 'rating':
      return text === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
    case 'checkbox':
      return text === 'true' || text === '☑' || text === '✓';
    case 'content-ref':
      return links(cell, context, 'page')[0];
    case 'image':
      return links(cell, context, 'image')[0];
    case 'files':
      return links(cell, context, 'file');
    case 'users':
      return text === '' ? [] : text.split(',').map((user) => user.trim());
    case 'select':
      return options(cell, kind);
    default:
      return asText();
  }
}

/** `<span data-option="id">Label</span>`: the labels become options of the column. */
function options(cell: HtmlElement, kind: TableDefinition & { type: 'select' }): string[] {
  return elementsNamed(cell, 'span').map((span): string => {
    const label = textOf(span.children).replace(/,\s*$/, '').trim();
    const value = span.attributes['data-option'] ?? label;
    const option: SelectOption = { value, label, color: 'default' };
    if (!kind.options.some((known) => known.value === value)) kind.options.push(option);
    return value;
  });
}
