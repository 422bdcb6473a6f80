import type { ContentRef, PlainObject, PlainValue } from '@bindery/contracts/document';
import { present, urlRef } from '../model/build.ts';
import { isSafeUrl } from './dialect.ts';
import type { FrontMatter } from './front-matter.ts';
import type { ResolveLink } from './parse/context.ts';
import type { ResolveRef } from './write/context.ts';

/** The options of a page's layout that are switches (resources section 23). */
const switches = [
  'title',
  'description',
  'tableOfContents',
  'outline',
  'pagination',
  'metadata',
  'tags',
  'actions',
  'anchors',
] as const;
type Switch = (typeof switches)[number];

/** What front matter says of the layout; absent means the default. */
export type PageLayout = { [K in Switch | 'cover']?: boolean } & {
  width?: 'default' | 'wide';
  coverSize?: 'hero' | 'full' | 'background';
  coverMask?: 'none' | 'radial';
};
export interface PageCover {
  ref?: ContentRef;
  refDark?: ContentRef;
  /** Vertical position of the image. */
  yPos: number;
  /** Pixels. */
  height?: number;
}
/**
 * The fields of a page that front matter carries. Mapping, front matter to field: `description`, `icon`, `emoji`,
 * `linkTitle`, `hidden`, `noIndex`, `noRobotsIndex` by the same name; `if` to `condition`; `vars` to `variables`; `cover`,
 * `coverDark`, `coverY`, `coverHeight` to `cover`; `layout.x.visible` to `layout.x`, `layout.cover.size` and `.mask` to
 * `coverSize` and `coverMask`; `metaLinks.canonical` and `.alternates` to references; `tags` (slugs, or `{tag, primary}`)
 * to `tags`.
 */
export interface PageFields {
  description?: string;
  icon?: string;
  emoji?: string;
  linkTitle?: string;
  hidden?: boolean;
  noIndex?: boolean;
  noRobotsIndex?: boolean;
  condition?: string;
  variables?: { [name: string]: string | number | boolean };
  cover?: PageCover;
  layout?: PageLayout;
  metaLinks?: { canonical?: ContentRef; alternates?: ContentRef[] };
  tags?: { tag: ContentRef; primary?: boolean }[];
}

const isObject = (value: PlainValue | undefined): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: PlainValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
const flagOf = (value: PlainValue | undefined): boolean | undefined => (typeof value === 'boolean' ? value : undefined);
const numberOf = (value: PlainValue | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
const wordOf = <W extends string>(value: PlainValue | undefined, words: readonly W[]): W | undefined =>
  words.find((word) => word === value);

function readLayout(value: PlainObject): PageLayout | undefined {
  const visible = (name: string): boolean | undefined => {
    const part = value[name];
    return isObject(part) ? flagOf(part.visible) : flagOf(part);
  };
  const cover = isObject(value.cover) ? value.cover : {};
  const layout = present<PageLayout>({
    ...(Object.fromEntries(switches.map((name) => [name, visible(name)])) as Record<Switch, boolean | undefined>),
    width: wordOf(value.width, ['default', 'wide'] as const),
    cover: visible('cover'),
    coverSize: wordOf(cover.size, ['hero', 'full', 'background'] as const),
    coverMask: wordOf(cover.mask, ['none', 'radial'] as const),
  });
  return Object.keys(layout).length === 0 ? undefined : layout;
}

function readTags(value: PlainValue | undefined): PageFields['tags'] {
  if (!Array.isArray(value)) return undefined;
  const tags = value.flatMap((one): { tag: ContentRef; primary?: boolean }[] => {
    const slug = isObject(one) ? textOf(one.tag) : textOf(one);
    if (slug === undefined) return [];
    return [{ tag: { kind: 'tag', tag: slug }, ...(isObject(one) && one.primary === true ? { primary: true } : {}) }];
  });
  return tags.length === value.length ? tags : undefined;
}

function readVariables(value: PlainValue | undefined): PageFields['variables'] {
  if (!isObject(value)) return undefined;
  const entries = Object.entries(value);
  const simple = entries.every(([, one]) => ['string', 'number', 'boolean'].includes(typeof one));
  return simple ? (value as { [name: string]: string | number | boolean }) : undefined;
}

/**
 * Splits front matter into the fields of a page and what is left, which is to be kept so that it can be written back.
 * @param resolveLink as for links of the page; covers ask for `image`, meta links for `page`
 */
export function readPageFields(
  frontMatter: FrontMatter,
  resolveLink?: ResolveLink,
): { fields: PageFields; rest: FrontMatter } {
  const refOf = (value: PlainValue | undefined, context: 'image' | 'page'): ContentRef | undefined => {
    const href = textOf(value);
    if (href === undefined || href === '' || !isSafeUrl(href)) return undefined;
    return resolveLink?.(href, context) ?? urlRef(href);
  };
  const meta = isObject(frontMatter.metaLinks) ? frontMatter.metaLinks : undefined;
  const alternates = meta?.alternates;
  const ref = refOf(frontMatter.cover, 'image');
  const refDark = refOf(frontMatter.coverDark, 'image');
  const layout = frontMatter.layout;
  const fields = present<PageFields>({
    description: textOf(frontMatter.description),
    icon: textOf(frontMatter.icon),
    emoji: textOf(frontMatter.emoji),
    linkTitle: textOf(frontMatter.linkTitle),
    hidden: flagOf(frontMatter.hidden),
    noIndex: flagOf(frontMatter.noIndex),
    noRobotsIndex: flagOf(frontMatter.noRobotsIndex),
    condition: textOf(frontMatter.if),
    variables: readVariables(frontMatter.vars),
    cover:
      ref === undefined && refDark === undefined
        ? undefined
        : {
            ...present<Partial<PageCover>>({ ref, refDark, height: numberOf(frontMatter.coverHeight) }),
            yPos: numberOf(frontMatter.coverY) ?? 0,
          },
    layout: isObject(layout) ? readLayout(layout) : undefined,
    metaLinks:
      meta &&
      present<{ canonical?: ContentRef; alternates?: ContentRef[] }>({
        canonical: refOf(meta.canonical, 'page'),
        alternates: Array.isArray(alternates) ? alternates.flatMap((one) => refOf(one, 'page') ?? []) : undefined,
      }),
    tags: readTags(frontMatter.tags),
  });
  const sources: Readonly<Record<string, keyof PageFields>> = {
    if: 'condition',
    vars: 'variables',
    coverDark: 'cover',
    coverY: 'cover',
    coverHeight: 'cover',
  };
  const taken = (name: string): boolean =>
    Object.hasOwn(fields, Object.hasOwn(sources, name) ? (sources[name] ?? name) : name);
  const rest = Object.entries(frontMatter).filter(
    ([name]) => !taken(name) || name === 'condition' || name === 'variables',
  );
  return { fields, rest: Object.fromEntries(rest) };
}

function writeLayout(layout: PageLayout): PlainObject {
  const visible = (flag: boolean | undefined): PlainObject | undefined =>
    flag === undefined ? undefined : { visible: flag };
  const cover = present<PlainObject>({
    ...visible(layout.cover),
    size: layout.coverSize,
    mask: layout.coverMask,
  } as PlainObject);
  return present<PlainObject>({
    width: layout.width,
    cover: Object.keys(cover).length === 0 ? undefined : cover,
    ...Object.fromEntries(switches.map((name) => [name, visible(layout[name])])),
  } as PlainObject);
}

/** Makes front matter of the fields of a page and what reading left over; the inverse of `readPageFields`. */
export function writePageFields(fields: PageFields, rest: FrontMatter = {}, resolveRef?: ResolveRef): FrontMatter {
  const address = (ref: ContentRef | undefined, context: 'image' | 'page'): string | undefined =>
    ref === undefined ? undefined : (resolveRef?.(ref, context) ?? (ref.kind === 'url' ? ref.url : undefined));
  const { cover, layout, metaLinks, tags } = fields;
  return present<FrontMatter>({
    description: fields.description,
    icon: fields.icon,
    emoji: fields.emoji,
    linkTitle: fields.linkTitle,
    hidden: fields.hidden,
    noIndex: fields.noIndex,
    noRobotsIndex: fields.noRobotsIndex,
    if: fields.condition,
    vars: fields.variables,
    cover: address(cover?.ref, 'image'),
    coverDark: address(cover?.refDark, 'image'),
    coverY: cover?.yPos,
    coverHeight: cover?.height,
    layout: layout === undefined ? undefined : writeLayout(layout),
    metaLinks:
      metaLinks &&
      present<PlainObject>({
        canonical: address(metaLinks.canonical, 'page'),
        alternates: metaLinks.alternates?.flatMap((one) => address(one, 'page') ?? []),
      } as PlainObject),
    tags: tags?.flatMap((one): PlainObject[] =>
      one.tag.kind === 'tag' ? [{ tag: one.tag.tag, ...(one.primary === true ? { primary: true } : {}) }] : [],
    ),
    ...rest,
  } as FrontMatter);
}
