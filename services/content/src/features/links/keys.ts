import { createHash } from 'node:crypto';

/** What a link leads to, within or outside its space. */
export type LinkTarget =
  | { readonly kind: 'page'; readonly space: string; readonly page: string }
  | { readonly kind: 'anchor'; readonly space: string; readonly page: string; readonly anchor: string }
  | { readonly kind: 'file'; readonly space: string; readonly file: string }
  | { readonly kind: 'content'; readonly space: string; readonly content: string }
  | { readonly kind: 'space'; readonly space: string }
  | { readonly kind: 'collection'; readonly collection: string }
  | { readonly kind: 'user'; readonly user: string }
  | { readonly kind: 'openapi'; readonly spec: string }
  | { readonly kind: 'url'; readonly url: string };

/** The fields of each kind, in the order of a key. */
const fields = {
  page: ['space', 'page'],
  anchor: ['space', 'page', 'anchor'],
  file: ['space', 'file'],
  content: ['space', 'content'],
  space: ['space'],
  collection: ['collection'],
  user: ['user'],
  openapi: ['spec'],
  url: ['url'],
} as const;

/** Characters of a key in the place that sorts and pages; what is longer is told apart by its hash. */
const maxReadable = 200;

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());
const hash = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Text that names a target: equal for equal targets, readable back. */
export const keyOf = (target: LinkTarget): string =>
  [target.kind, ...fields[target.kind].map((field) => encode(String(Object(target)[field])))].join(':');

/** The target that a key names; undefined for text that `keyOf` does not make. */
export const targetOf = (key: string): LinkTarget | undefined => {
  const [kind = '', ...values] = key.split(':');
  if (!Object.hasOwn(fields, kind)) return undefined;
  const names = fields[kind as LinkTarget['kind']];
  return {
    kind,
    ...Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at] ?? '')])),
  } as LinkTarget;
};

/** Place of a key in the order of targets; bounded, so that it can stand in a cursor. */
export const placeOf = (key: string): string => `${key.slice(0, maxReadable)}~${hash(key)}`;

/** Short name of a key, for ids. */
export const shortOf = hash;

/** Beginning of the places of all addresses that begin with this text (if it is not very long). */
export const urlPlaces = (prefix: string): string => `url:${encode(prefix)}`.slice(0, maxReadable);

/** The page or file whose backlinks a link to this target is among. */
export const resourceOf = (target: LinkTarget): string | undefined => {
  if (target.kind === 'anchor') return keyOf({ kind: 'page', space: target.space, page: target.page });
  return target.kind === 'page' || target.kind === 'file' ? keyOf(target) : undefined;
};

/** A reference as it is in stored content, which nothing here trusts; undefined for what leads nowhere (tags, nonsense). */
export const targetOfRef = (ref: unknown, spaceId: string, pageId: string | undefined): LinkTarget | undefined => {
  const value: Readonly<Record<string, unknown>> = Object(ref);
  const text = (field: string): string | undefined => {
    const it = value[field];
    return typeof it === 'string' && it !== '' ? it : undefined;
  };
  const space = text('space') ?? spaceId;
  const made = (field: string, make: (id: string) => LinkTarget): LinkTarget | undefined => {
    const id = text(field);
    return id === undefined ? undefined : make(id);
  };
  switch (value.kind) {
    case 'page':
      return made('page', (page) => ({ kind: 'page', space, page }));
    case 'anchor': {
      const page = text('page') ?? pageId;
      return page === undefined ? undefined : made('anchor', (anchor) => ({ kind: 'anchor', space, page, anchor }));
    }
    case 'file':
      return made('file', (file) => ({ kind: 'file', space, file }));
    case 'reusable-content':
      return made('reusableContent', (content) => ({ kind: 'content', space, content }));
    case 'space':
      return made('space', (id) => ({ kind: 'space', space: id }));
    case 'collection':
      return made('collection', (collection) => ({ kind: 'collection', collection }));
    case 'user':
      return made('user', (user) => ({ kind: 'user', user }));
    case 'openapi':
      return made('spec', (spec) => ({ kind: 'openapi', spec }));
    case 'url':
      return made('url', (url) => ({ kind: 'url', url }));
    default:
      return undefined;
  }
};
