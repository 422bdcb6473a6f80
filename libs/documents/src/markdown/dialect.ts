/**
 * The vocabulary of the markdown dialect: `{% tag %}` blocks, and HTML elements that carry meaning. Source: files that the
 * hosted service writes to git. Everything else is text and stays as it is.
 */
export interface TagKind {
  /** The tag may stand alone, without `{% endname %}`. */
  readonly standalone?: true;
  /** Only meaningful inside this tag. */
  readonly parent?: string;
  /** Attributes that become data of the block; others are kept aside and written back. */
  readonly attributes: readonly string[];
}

export const tagKinds: Readonly<Record<string, TagKind>> = {
  hint: { attributes: ['style', 'icon'] },
  tabs: { attributes: ['fullWidth'] },
  tab: { parent: 'tabs', attributes: ['title', 'icon', 'slug'] },
  stepper: { attributes: [] },
  step: { parent: 'stepper', attributes: ['icon'] },
  columns: { attributes: ['fullWidth'] },
  column: { parent: 'columns', attributes: ['width', 'valign'] },
  updates: { attributes: ['format'] },
  update: { parent: 'updates', attributes: ['date', 'tags'] },
  code: {
    attributes: ['title', 'overflow', 'lineNumbers', 'fullWidth', 'expandable', 'collapsedLineCount'],
  },
  prompt: { attributes: ['description', 'icon', 'openInAIProviders', 'defaultExpanded'] },
  if: { attributes: [] },
  embed: { standalone: true, attributes: ['url', 'fullWidth'] },
  file: { standalone: true, attributes: ['src'] },
  'content-ref': { standalone: true, attributes: ['url'] },
  include: { standalone: true, attributes: [] },
  swagger: { standalone: true, attributes: ['src', 'path', 'method', 'expanded', 'fullWidth'] },
  openapi: { standalone: true, attributes: ['src', 'path', 'method', 'expanded', 'fullWidth'] },
  'openapi-operation': { standalone: true, attributes: ['spec', 'path', 'method', 'headless'] },
  'openapi-schemas': { standalone: true, attributes: ['spec', 'schemas', 'grouped', 'title'] },
  'openapi-webhook': { standalone: true, attributes: ['spec', 'name', 'method', 'headless'] },
};

/** `{% @integration/block %}`, which any integration may define. */
export const isIntegrationTag = (name: string): boolean => /^@[\w.-]+\/[\w.-]+$/.test(name);

export const tagKind = (name: string): TagKind | undefined =>
  Object.hasOwn(tagKinds, name)
    ? tagKinds[name]
    : isIntegrationTag(name)
      ? { standalone: true, attributes: [] }
      : undefined;

/** HTML elements that mark text, with the mark they stand for. */
export const markElements = {
  strong: 'bold',
  b: 'bold',
  em: 'italic',
  i: 'italic',
  del: 'strikethrough',
  s: 'strikethrough',
  code: 'code',
  kbd: 'keyboard',
  sup: 'superscript',
  sub: 'subscript',
} as const;

/** Inline HTML elements that are read as something other than text. */
export const inlineElements = new Set([
  ...Object.keys(markElements),
  'mark',
  'a',
  'button',
  'span',
  'img',
  'br',
  'picture',
  'source',
]);

/** HTML elements that are read as a block when a line starts with them. */
export const blockElements = ['table', 'figure', 'pre', 'div', 'picture', 'p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

/** Schemes that run code in a reader's browser; such links stay text (PITFALLS: nothing executable comes from content). */
const unsafeScheme = /^(?:vbscript|javascript|file|data):/i;
const safeData = /^data:image\/(?:gif|png|jpeg|webp);/i;
/** Whether an address may be a link or image. */
export function isSafeUrl(url: string): boolean {
  const trimmed = [...url].filter((character) => character > ' ' && character !== '\u007f').join('');
  return !unsafeScheme.test(trimmed) || safeData.test(trimmed);
}
