import Type, { type TProperties, type TSchema } from 'typebox';
import { component, componentPointer } from '../kit/components.ts';
import { closed, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import {
  align,
  anyObject,
  BlockRef,
  ContentRef,
  flag,
  fragments,
  isVoid,
  key,
  length,
  meta,
  notVoid,
  optional,
  Phrasing,
  phrasing,
  text,
  union,
  verticalAlignment,
} from './document-inlines.ts';
import type { Block, DocumentInput, JSONDocument as JSONDocumentType } from './document-types.ts';

/** Where a link, image, file or mention points, as schema and as type. */
export { ContentRef } from './document-inlines.ts';
export type * from './document-types.ts';

/**
 * How deep blocks may nest in a document that we make from markdown; deeper markup stays text. One block level costs two
 * levels of JSON, so every document we make passes `limits.json.maxDepth` when it is sent back to us.
 */
export const maxBlockDepth = 24;

const block = (type: string, data: TSchema, more: TProperties) =>
  closed({ object: Type.Literal('block'), type: Type.Literal(type), key, data, meta, ...more });
const voidBlock = (type: string, data: TSchema, more: TProperties = {}) =>
  block(type, data, { ...isVoid, fragments, ...more });
const container = (type: string, nodes: TSchema, data: TSchema = optional(anyObject)) =>
  block(type, data, { ...notVoid, nodes: Type.Array(nodes) });

const heading = (type: string) =>
  block(
    type,
    optional(
      closed({
        id: optional(Type.String({ pattern: '^[-a-z0-9.+_]+$', maxLength: 256 })),
        align,
        level: optional(Type.Unsafe({ enum: [1, 5, 6] })),
      }),
    ),
    { ...notVoid, ...phrasing },
  );

const listItem = component('DocumentListItem', container('list-item', BlockRef, optional(closed({ checked: flag }))));
const image = component(
  'DocumentImage',
  voidBlock(
    'image',
    closed({
      ref: ContentRef,
      refDark: optional(ContentRef),
      width: optional(length),
      height: optional(length),
      alt: optional(Type.String()),
    }),
  ),
);
const codeLine = component(
  'DocumentCodeLine',
  container('code-line', Phrasing, optional(closed({ highlighted: flag }))),
);
const code = component(
  'DocumentCode',
  container(
    'code',
    codeLine,
    closed({
      syntax: optional(text(256)),
      title: optional(text()),
      overflow: optional(words(['scroll', 'wrap'])),
      lineNumbers: flag,
      fullWidth: flag,
      expandable: flag,
      collapsedLineCount: optional(Type.Integer({ minimum: 1 })),
    }),
  ),
);
const definition = (type: string, properties: TProperties = {}) =>
  closed({ id: text(64), title: Type.String(), type: Type.Literal(type), ...properties });
const definitions = {
  text: definition('text', { textAlignment: optional(words(['center', 'right', 'left'])), verticalAlignment }),
  number: definition('number'),
  checkbox: definition('checkbox'),
  files: definition('files'),
  users: definition('users', { multiple: flag }),
  rating: definition('rating', { max: Type.Number() }),
  select: definition('select', {
    multiple: flag,
    options: Type.Array(closed({ value: text(64), label: text(), color: text(64) })),
  }),
  'content-ref': definition('content-ref'),
  image: definition('image'),
};
const columns = Type.Array(text(64), { maxItems: 1000 });
const views = {
  grid: closed({
    type: Type.Literal('grid'),
    columns,
    hideHeader: Type.Boolean(),
    columnWidths: optional(Type.Record(Type.String(), Type.Number())),
    stickyHeader: flag,
    stickyFirstColumn: flag,
    useNewSizing: flag,
  }),
  cards: closed({
    type: Type.Literal('cards'),
    cardSize: words(['medium', 'large']),
    columns,
    targetDefinition: optional(text(64)),
    coverDefinition: optional(text(64)),
    coverDefinitionDark: optional(text(64)),
    hideColumnTitle: flag,
    wrap: flag,
  }),
};
const tableImage = Type.Unsafe({
  type: 'object',
  if: { required: ['kind'] },
  // biome-ignore lint/suspicious/noThenProperty: `then` is the JSON Schema keyword.
  then: { $ref: componentPointer('ContentRef') },
  else: closed({
    ref: ContentRef,
    objectFit: optional(words(['contain', 'fill', 'cover'])),
    alt: optional(Type.String()),
  }),
});
const cellList = {
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: `then` is the JSON Schema keyword.
  then: { items: { if: { type: 'string' }, else: tableImage } },
};
const cellValue = Type.Unsafe({
  type: ['number', 'string', 'null', 'boolean', 'array', 'object'],
  if: { type: 'object' },
  // biome-ignore lint/suspicious/noThenProperty: `then` is the JSON Schema keyword.
  then: tableImage,
  else: cellList,
});
const tableData = closed({
  view: union('type', views),
  records: Type.Record(Type.String(), closed({ orderIndex: text(64), values: Type.Record(Type.String(), cellValue) })),
  definition: Type.Record(Type.String(), union('type', definitions)),
  cellMerges: optional(
    Type.Array(
      closed({
        anchor: closed({ record: text(64), column: text(64) }),
        rowSpan: Type.Integer({ minimum: 1, maximum: 50 }),
        colSpan: Type.Integer({ minimum: 1, maximum: 50 }),
      }),
    ),
  ),
  fullWidth: flag,
  search: flag,
});
const listData = optional(Type.Object({ start: optional(Type.Number()), loose: flag }));
const part = (type: string, properties: TProperties, required = false) => {
  const data = closed(properties);
  return component(
    `Document${type.replace(/(^|-)([a-z])/g, (_, __, letter: string) => letter.toUpperCase())}`,
    container(type, BlockRef, required ? data : optional(data)),
  );
};
const tabsItem = part('tabs-item', { title: optional(text()), icon: optional(text(64)), slug: optional(text()) });
const stepperStep = part('stepper-step', { icon: optional(text(64)) });
const column = part('column', { width: optional(length), verticalAlignment });
const update = part('update', { date: text(64), tags: optional(Type.Array(ContentRef, { maxItems: 100 })) }, true);

const blockTypes = {
  paragraph: block('paragraph', optional(closed({ align })), { ...notVoid, ...phrasing }),
  'heading-1': heading('heading-1'),
  'heading-2': heading('heading-2'),
  'heading-3': heading('heading-3'),
  'list-ordered': container('list-ordered', listItem, listData),
  'list-unordered': container('list-unordered', listItem, listData),
  'list-tasks': container('list-tasks', listItem, listData),
  divider: voidBlock('divider', optional(anyObject)),
  blockquote: container('blockquote', BlockRef),
  hint: container(
    'hint',
    BlockRef,
    closed({ style: words(['info', 'warning', 'danger', 'success']), icon: optional(text(64)) }),
  ),
  prompt: container(
    'prompt',
    code,
    closed({
      description: Type.String(),
      icon: optional(text(64)),
      openInAIProviders: flag,
      defaultExpanded: optional(words(['hidden', 'partial', 'full'])),
    }),
  ),
  images: block(
    'images',
    closed({ align: optional(words(['center', 'left', 'right'])), fullWidth: flag, withFrame: flag }),
    { isVoid: Type.Literal(false), nodes: Type.Array(image) },
  ),
  file: voidBlock('file', closed({ ref: ContentRef })),
  drawing: voidBlock('drawing', closed({ ref: optional(ContentRef) })),
  embed: voidBlock('embed', closed({ url: text(8192), fullWidth: flag })),
  code,
  math: voidBlock('math', closed({ formula: Type.String() })),
  expandable: voidBlock('expandable', closed({ defaultExpanded: flag })),
  tabs: container('tabs', tabsItem, optional(closed({ fullWidth: flag }))),
  table: voidBlock('table', tableData),
  swagger: voidBlock(
    'swagger',
    closed({ path: text(), method: text(64), ref: ContentRef, expanded: flag, fullWidth: flag }),
  ),
  'openapi-operation': voidBlock(
    'openapi-operation',
    closed({ path: text(), method: text(64), ref: ContentRef, headless: flag }),
  ),
  'openapi-schemas': voidBlock(
    'openapi-schemas',
    closed({ schemas: Type.Array(text()), grouped: flag, title: optional(text()), ref: ContentRef }),
  ),
  'openapi-webhook': voidBlock(
    'openapi-webhook',
    closed({ name: text(), method: text(64), ref: ContentRef, headless: flag }),
  ),
  'content-ref': voidBlock('content-ref', closed({ ref: ContentRef })),
  integration: voidBlock(
    'integration',
    closed({
      integration: text(256),
      block: text(256),
      props: anyObject,
      action: optional(anyObject),
      url: optional(text(8192)),
      fullWidth: flag,
    }),
  ),
  'reusable-content': voidBlock('reusable-content', closed({ ref: ContentRef })),
  stepper: container('stepper', stepperStep),
  if: container('if', BlockRef, closed({ expression: text(1024) })),
  columns: block('columns', optional(closed({ fullWidth: flag })), {
    isVoid: Type.Literal(false),
    nodes: Type.Array(column),
  }),
  updates: container('updates', update, closed({ format: words(['full', 'numeric', 'short']) })),
};
/** The block types that may stand at the top level or in a container. */
export const blockTypeNames = Object.keys(blockTypes);
component('DocumentBlock', union<Block>('type', blockTypes));

/**
 * Rich text. Containers accept every block type, more than the reference lists for each: markdown nests freely (code in
 * hints, tables in tabs), and nothing that was read may be refused when it is sent back.
 */
export type JSONDocument = JSONDocumentType;
export const JSONDocument = component(
  'JSONDocument',
  Type.Unsafe<JSONDocumentType>(
    closed({
      object: Type.Literal('document'),
      data: Type.Unsafe({ type: 'object', properties: { schemaVersion: { type: 'integer' } } }),
      nodes: Type.Array(BlockRef),
      meta: optional(closed({ token: optional(text()) })),
    }),
  ),
);
/** Rich text as markdown, as nodes, or empty (resources section 0). */
export const Document = component(
  'Document',
  Type.Unsafe<DocumentInput>({
    ...closed({
      markdown: optional(Type.String({ maxLength: limits.markdown.maxLength })),
      document: optional(JSONDocument),
    }),
    maxProperties: 1,
  }),
);
