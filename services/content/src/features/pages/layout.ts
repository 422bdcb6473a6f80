import type { PageCover, PageLayout } from '@bindery/contracts';

/** What a page shows when it sets nothing. */
export const defaultLayout: PageLayout = {
  width: 'default',
  cover: true,
  coverSize: 'hero',
  coverMask: 'none',
  title: true,
  description: true,
  tableOfContents: true,
  outline: true,
  pagination: true,
  metadata: true,
  tags: true,
  actions: true,
  anchors: true,
};

const flags = [
  ...(['cover', 'title', 'description', 'tableOfContents', 'outline'] as const),
  ...(['pagination', 'metadata', 'tags', 'actions', 'anchors'] as const),
];
type Loose = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const oneOf = <W extends string>(value: unknown, words: readonly W[]): W | undefined =>
  words.find((word) => word === value);
/** Front matter says `title: {visible: false}`, the API `title: false`. */
const flagOf = (value: unknown): boolean | undefined => {
  const plain = isObject(value) ? value.visible : value;
  return typeof plain === 'boolean' ? plain : undefined;
};

/**
 * A stored layout with every field filled in. Stored layouts come from front matter and from the API, over years: what is
 * not understood is left at its default.
 */
export const layoutOf = (stored: Loose | undefined): PageLayout => {
  if (stored === undefined) return defaultLayout;
  const cover = isObject(stored.cover) ? stored.cover : {};
  const layout = { ...defaultLayout };
  for (const flag of flags) layout[flag] = flagOf(stored[flag]) ?? layout[flag];
  layout.width = oneOf(stored.width, ['default', 'wide']) ?? layout.width;
  layout.coverSize = oneOf(stored.coverSize ?? cover.size, ['hero', 'full', 'background']) ?? layout.coverSize;
  layout.coverMask = oneOf(stored.coverMask ?? cover.mask, ['none', 'radial']) ?? layout.coverMask;
  return layout;
};

const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));

/** A stored cover as clients see it; undefined when the page has none. */
export const coverOf = (stored: Loose | undefined): PageCover | undefined => {
  if (stored === undefined) return undefined;
  const { yPos, height } = stored;
  const cover: PageCover = { yPos: typeof yPos === 'number' ? yPos : 0 };
  for (const field of ['ref', 'refDark'] as const) {
    const ref = stored[field];
    if (isObject(ref) && ref.kind === 'url' && typeof ref.url === 'string')
      cover[field] = { kind: 'url', url: ref.url };
    else if (isObject(ref) && ref.kind === 'file' && typeof ref.file === 'string')
      cover[field] = { kind: 'file', file: ref.file, ...(typeof ref.space === 'string' ? { space: ref.space } : {}) };
  }
  for (const field of ['textColor', 'textColorDark'] as const) {
    const color = oneOf(stored[field], ['black', 'white']);
    if (color !== undefined) cover[field] = color;
  }
  if (typeof height === 'number') cover.height = clamp(height, 10, 700);
  return cover;
};
