import { limits } from '@bindery/contracts';
import { type FrontMatter, findUnsafeAddress, isUnsafeAddress } from '@bindery/documents';
import type { PageMetadata } from '../../revisions/index.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
/** Metadata that a page's front matter sets. */
export type FrontMatterFields = Mutable<Partial<Omit<PageMetadata, 'slug'>>>;

type Take = (value: unknown, fields: FrontMatterFields) => boolean;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text =
  (field: 'title' | 'description' | 'emoji' | 'icon' | 'linkTitle' | 'condition', maxLength: number): Take =>
  (value, fields) => {
    if (typeof value !== 'string' || value.length > maxLength) return false;
    fields[field] = value;
    return true;
  };
const flag =
  (field: 'hidden' | 'noIndex' | 'noRobotsIndex'): Take =>
  (value, fields) => {
    if (typeof value !== 'boolean') return false;
    fields[field] = value;
    return true;
  };
/** One value of the cover; an address becomes a reference when links are resolved. */
const cover =
  (field: 'ref' | 'refDark' | 'yPos' | 'height'): Take =>
  (value, fields) => {
    const isRef = field === 'ref' || field === 'refDark';
    if (typeof value !== (isRef ? 'string' : 'number')) return false;
    if (typeof value === 'string' && isUnsafeAddress(value, 'image')) return false;
    fields.cover = { ...fields.cover, [field]: isRef ? { kind: 'url', url: value } : value };
    return true;
  };

const variables: Take = (value, fields) => {
  if (!isRecord(value)) return false;
  const entries = Object.entries(value).filter(
    (entry): entry is [string, string | number | boolean] =>
      (typeof entry[1] === 'string' && entry[1].length <= limits.variable.value) ||
      typeof entry[1] === 'number' ||
      typeof entry[1] === 'boolean',
  );
  if (entries.length < Object.keys(value).length) return false;
  fields.variables = Object.fromEntries(entries);
  return true;
};

const tags: Take = (value, fields) => {
  if (!Array.isArray(value) || !value.every((tag) => typeof tag === 'string' || isRecord(tag))) return false;
  const found = value.flatMap((tag: unknown) => {
    if (typeof tag === 'string') return [{ tag }];
    if (!isRecord(tag) || typeof tag.tag !== 'string') return [];
    return [{ tag: tag.tag, ...(typeof tag.primary === 'boolean' ? { primary: tag.primary } : {}) }];
  });
  if (found.length < value.length) return false;
  fields.tags = found;
  return true;
};

const record =
  (field: 'layout' | 'metaLinks'): Take =>
  (value, fields) => {
    if (!isRecord(value) || findUnsafeAddress(value) !== undefined) return false;
    fields[field] = value;
    return true;
  };

const keys: Readonly<Record<string, Take>> = {
  title: text('title', limits.page_.title),
  description: text('description', Number.MAX_SAFE_INTEGER),
  emoji: text('emoji', limits.page_.emoji),
  icon: text('icon', limits.page_.icon),
  linkTitle: text('linkTitle', limits.page_.linkTitle),
  if: text('condition', limits.page_.condition),
  hidden: flag('hidden'),
  noIndex: flag('noIndex'),
  noRobotsIndex: flag('noRobotsIndex'),
  cover: cover('ref'),
  coverDark: cover('refDark'),
  coverY: cover('yPos'),
  coverHeight: cover('height'),
  layout: record('layout'),
  metaLinks: record('metaLinks'),
  vars: variables,
  tags,
};

/**
 * Metadata from front matter. Keys that we do not interpret, and values that do not fit theirs (addresses that would run
 * something among them), are kept in `extra`, so that nothing that somebody wrote is lost.
 */
export const fieldsOf = (frontMatter: FrontMatter): FrontMatterFields => {
  const fields: FrontMatterFields = {};
  const extra: [string, unknown][] = [];
  for (const [name, value] of Object.entries(frontMatter)) {
    const take = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (take?.(value, fields) !== true) extra.push([name, value]);
  }
  if (extra.length > 0) fields.extra = Object.fromEntries(extra);
  return fields;
};
