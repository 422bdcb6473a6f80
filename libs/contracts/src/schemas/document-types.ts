/**
 * TypeScript types of rich text (reference: Document; gaps-filled section 6). Beyond the reference, four optional fields
 * let markdown come back as it was written: `level` of a heading, `loose` of a list, `title` of a link, and a caption
 * fragment on every void block that markdown gives a body. Clients that do not know them can ignore them.
 */

/** What a link, image, mention or file block points at. A missing `space` or `page` means the current one. */
export type ContentRef =
  | { kind: 'file'; file: string; space?: string }
  | { kind: 'url'; url: string }
  | { kind: 'page'; page: string; space?: string }
  | { kind: 'anchor'; anchor: string; space?: string; page?: string }
  | { kind: 'user'; user: string }
  | { kind: 'collection'; collection: string }
  | { kind: 'space'; space: string }
  | { kind: 'reusable-content'; reusableContent: string; space?: string }
  | { kind: 'tag'; tag: string; space?: string }
  | { kind: 'openapi'; spec: string };

/** A JSON object that integrations define. */
export type PlainObject = { [key: string]: PlainValue };
export type PlainValue = string | number | boolean | null | PlainObject | PlainValue[];

export type TextColor =
  | 'default'
  | 'green'
  | 'blue'
  | 'red'
  | 'orange'
  | 'yellow'
  | 'purple'
  | 'pink'
  | 'violet'
  | 'cyan'
  | '$primary'
  | '$info'
  | '$success'
  | '$warning'
  | '$danger'
  | '$tint';

/** Pixels, or a value with its unit. */
export type Length = number | { unit: string; value: number };
export type Align = 'start' | 'center' | 'end';
export type VerticalAlignment = 'top' | 'middle' | 'bottom';

export type MarkType = 'bold' | 'italic' | 'code' | 'keyboard' | 'strikethrough' | 'superscript' | 'subscript';
export type Mark =
  | { object: 'mark'; type: MarkType; data?: PlainObject }
  | { object: 'mark'; type: 'color'; data: { text?: TextColor; background?: TextColor } };

/** A run of characters with the same marks. A line feed in `text` is a hard line break. */
export interface Leaf {
  object: 'leaf';
  text: string;
  marks: Mark[];
}
export interface Text {
  object: 'text';
  key?: string;
  leaves: Leaf[];
}

/** Content that hangs on a void node by name: captions, table cells, the parts of an expandable. */
export interface Fragment {
  object: 'fragment';
  key?: string;
  fragment?: string;
  type?: string;
  nodes: Block[];
}

interface InlineNode<T extends string, D> {
  object: 'inline';
  type: T;
  key?: string;
  data: D;
}
interface VoidInline<T extends string, D> extends InlineNode<T, D> {
  isVoid: true;
}

export interface ButtonData {
  label: string;
  kind: 'primary' | 'secondary';
  size?: 'small' | 'medium' | 'large';
  icon?: string;
  /** Where the button leads; neither this nor `action`: it is inactive. */
  ref?: ContentRef;
  action?: { action: 'search' | 'ask'; query?: string } | { action: 'select'; slug: string };
}

export interface LinkInline extends InlineNode<'link', { ref: ContentRef; title?: string }> {
  isVoid?: false;
  nodes: Phrasing[];
}
export type InlineImage = VoidInline<
  'inline-image',
  { ref: ContentRef; refDark?: ContentRef; caption?: string; alt?: string; size?: 'original' | 'line' }
>;
export interface Annotation {
  object: 'inline';
  type: 'annotation';
  key?: string;
  data?: object;
  isVoid: false;
  nodes: Phrasing[];
  fragments: Fragment[];
}
export type Inline =
  | LinkInline
  | InlineImage
  | Annotation
  | VoidInline<'emoji', { code: string }>
  | VoidInline<'icon', { icon: string; color?: TextColor }>
  | VoidInline<'expression', { expression: string }>
  | VoidInline<'inline-math', { formula: string }>
  | VoidInline<'mention', { ref: ContentRef }>
  | VoidInline<'button', ButtonData>;
export type InlineType = Inline['type'];
/** What a paragraph or heading is made of. */
export type Phrasing = Text | Inline;

interface BlockNode<T extends string> {
  object: 'block';
  type: T;
  key?: string;
}
interface VoidBlock<T extends string, D> extends BlockNode<T> {
  data: D;
  isVoid: true;
  fragments?: Fragment[];
  meta?: PlainObject;
}
interface Container<T extends string, N, D> extends BlockNode<T> {
  isVoid?: false;
  data?: D;
  nodes: N[];
  meta?: PlainObject;
}
/** A container whose data is always there. */
interface DataContainer<T extends string, N, D> extends Container<T, N, D> {
  data: D;
}

export interface HeadingData {
  id?: string;
  align?: Align;
  /** Number of `#` in markdown, where it is not the usual one of the heading's type. */
  level?: 1 | 5 | 6;
}
export type Paragraph = Container<'paragraph', Phrasing, { align?: Align }>;
export type Heading = Container<'heading-1' | 'heading-2' | 'heading-3', Phrasing, HeadingData>;

export interface ListData {
  start?: number;
  /** The items of the list are separated by blank lines in markdown. */
  loose?: boolean;
}
export type List = Container<'list-ordered' | 'list-unordered' | 'list-tasks', ListItem, ListData>;
export type ListItem = Container<'list-item', Block, { checked?: boolean }>;

export type HintStyle = 'info' | 'warning' | 'danger' | 'success';
export type Hint = DataContainer<'hint', Block, { style: HintStyle; icon?: string }>;
export type Blockquote = Container<'blockquote', Block, object>;
export type Prompt = DataContainer<
  'prompt',
  Code,
  { description: string; icon?: string; openInAIProviders?: boolean; defaultExpanded?: 'hidden' | 'partial' | 'full' }
>;

export interface ImageData {
  ref: ContentRef;
  refDark?: ContentRef;
  width?: Length;
  height?: Length;
  alt?: string;
}
export type Image = VoidBlock<'image', ImageData>;
export interface Images extends BlockNode<'images'> {
  isVoid: false;
  data: { align?: 'center' | 'left' | 'right'; fullWidth?: boolean; withFrame?: boolean };
  nodes: Image[];
}

export interface CodeData {
  syntax?: string;
  title?: string;
  overflow?: 'scroll' | 'wrap';
  lineNumbers?: boolean;
  fullWidth?: boolean;
  expandable?: boolean;
  collapsedLineCount?: number;
}
export type CodeLine = Container<'code-line', Phrasing, { highlighted?: boolean }>;
export type Code = DataContainer<'code', CodeLine, CodeData>;

export type Tabs = Container<'tabs', TabsItem, { fullWidth?: boolean }>;
export type TabsItem = Container<'tabs-item', Block, { title?: string; icon?: string; slug?: string }>;
export type Stepper = Container<'stepper', StepperStep, object>;
export type StepperStep = Container<'stepper-step', Block, { icon?: string }>;
export interface Columns extends BlockNode<'columns'> {
  isVoid: false;
  data?: { fullWidth?: boolean };
  nodes: Column[];
}
export type Column = Container<'column', Block, { width?: Length; verticalAlignment?: VerticalAlignment }>;
export type Updates = DataContainer<'updates', Update, { format: 'full' | 'numeric' | 'short' }>;
export type Update = DataContainer<'update', Block, { date: string; tags?: ContentRef[] }>;
export type If = DataContainer<'if', Block, { expression: string }>;

export type TableImage = ContentRef | { ref: ContentRef; objectFit?: 'contain' | 'fill' | 'cover'; alt?: string };
export type TableValue = number | string | null | boolean | string[] | ContentRef | TableImage | TableImage[];
export interface TableRecord {
  orderIndex: string;
  values: { [definition: string]: TableValue };
}
interface DefinitionBase {
  id: string;
  title: string;
}
export interface SelectOption {
  value: string;
  label: string;
  color: string;
}
export type TableDefinition = DefinitionBase &
  (
    | { type: 'text'; textAlignment?: 'center' | 'right' | 'left'; verticalAlignment?: VerticalAlignment }
    | { type: 'number' | 'checkbox' | 'files' | 'content-ref' | 'image' }
    | { type: 'users'; multiple?: boolean }
    | { type: 'rating'; max: number }
    | { type: 'select'; multiple?: boolean; options: SelectOption[] }
  );
export interface TableGridView {
  type: 'grid';
  columns: string[];
  hideHeader: boolean;
  columnWidths?: { [definition: string]: number };
  stickyHeader?: boolean;
  stickyFirstColumn?: boolean;
  useNewSizing?: boolean;
}
export interface TableCardsView {
  type: 'cards';
  cardSize: 'medium' | 'large';
  columns: string[];
  targetDefinition?: string;
  coverDefinition?: string;
  coverDefinitionDark?: string;
  hideColumnTitle?: boolean;
  wrap?: boolean;
}
export interface CellMerge {
  anchor: { record: string; column: string };
  rowSpan: number;
  colSpan: number;
}
export interface TableData {
  view: TableGridView | TableCardsView;
  records: { [id: string]: TableRecord };
  definition: { [id: string]: TableDefinition };
  cellMerges?: CellMerge[];
  fullWidth?: boolean;
  search?: boolean;
}
export interface Table extends VoidBlock<'table', TableData> {
  fragments: Fragment[];
}
export interface Expandable extends VoidBlock<'expandable', { defaultExpanded?: boolean }> {
  fragments: Fragment[];
}

export interface Divider extends BlockNode<'divider'> {
  isVoid: true;
  data?: object;
}
export type File = VoidBlock<'file', { ref: ContentRef }>;
export type Drawing = VoidBlock<'drawing', { ref?: ContentRef }>;
export type Embed = VoidBlock<'embed', { url: string; fullWidth?: boolean }>;
export type MathBlock = VoidBlock<'math', { formula: string }>;
export type Swagger = VoidBlock<
  'swagger',
  { path: string; method: string; ref: ContentRef; expanded?: boolean; fullWidth?: boolean }
>;
export type OpenAPIOperation = VoidBlock<
  'openapi-operation',
  { path: string; method: string; ref: ContentRef; headless?: boolean }
>;
export type OpenAPISchemas = VoidBlock<
  'openapi-schemas',
  { schemas: string[]; grouped?: boolean; title?: string; ref: ContentRef }
>;
export type OpenAPIWebhook = VoidBlock<
  'openapi-webhook',
  { name: string; method: string; ref: ContentRef; headless?: boolean }
>;
export type ContentRefBlock = VoidBlock<'content-ref', { ref: ContentRef }>;
export type IntegrationBlock = VoidBlock<
  'integration',
  { integration: string; block: string; props: PlainObject; action?: PlainObject; url?: string; fullWidth?: boolean }
>;
export type ReusableContentBlock = VoidBlock<'reusable-content', { ref: ContentRef }>;

/** Every block that may stand at the top level or inside a container. */
export type Block =
  | Paragraph
  | Heading
  | List
  | Divider
  | Blockquote
  | Hint
  | Prompt
  | Images
  | File
  | Drawing
  | Embed
  | Code
  | MathBlock
  | Expandable
  | Tabs
  | Table
  | Swagger
  | OpenAPIOperation
  | OpenAPISchemas
  | OpenAPIWebhook
  | ContentRefBlock
  | IntegrationBlock
  | ReusableContentBlock
  | Stepper
  | If
  | Columns
  | Updates;
/** Blocks that only ever stand inside their own container. */
export type PartBlock = ListItem | Image | CodeLine | TabsItem | StepperStep | Column | Update;
export type AnyBlock = Block | PartBlock;

/** A rich text document: a tree of blocks. */
export interface JSONDocument {
  object: 'document';
  data: { schemaVersion?: number; [property: string]: PlainValue | undefined };
  nodes: Block[];
  meta?: { token?: string };
}

/** How a caller gives rich text, and how it is answered (the `format` query decides). */
export type DocumentInput = { markdown: string } | { document: JSONDocument } | { markdown?: never; document?: never };
