import Type, { type Static } from 'typebox';
import { component, componentPointer, forwardRef } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, Uri, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { JSONDocument } from '../schemas/document.ts';
import { ContentRef } from '../schemas/document-inlines.ts';
import type { ContentRef as ContentRefType, JSONDocument as JSONDocumentType } from '../schemas/document-types.ts';
import { ChangeRequest } from './change-requests.ts';
import { ComputedContentSource } from './computed.ts';
import { GitSyncBlob } from './git.ts';

const optional = Type.Optional;
const flag = optional(Type.Boolean());

const Dimensions = closed({ width: Type.Number(), height: Type.Number() });

/** A file of a revision (resources section 25). */
export const RevisionFile = component(
  'RevisionFile',
  closed({
    id: Id(),
    name: Type.String(),
    contentType: Type.String(),
    downloadURL: Uri,
    size: Type.Number({ description: 'Bytes.' }),
    dimensions: optional(Dimensions),
    git: optional(GitSyncBlob),
  }),
);
export type RevisionFile = Static<typeof RevisionFile>;

/** A reusable content of a revision (resources section 25). */
export const RevisionReusableContent = component(
  'RevisionReusableContent',
  closed({ id: Id(), title: Type.String(), document: optional(Id('Its document.')), git: optional(GitSyncBlob) }),
);
export type RevisionReusableContent = Static<typeof RevisionReusableContent>;

/** Values that content can show (resources section 0). */
export const Variables = component(
  'Variables',
  Type.Unsafe<Record<string, string | number | boolean>>({
    type: 'object',
    additionalProperties: {
      anyOf: [{ type: 'string', maxLength: limits.variable.value }, { type: 'number' }, { type: 'boolean' }],
    },
  }),
);

const RevisionTag = component(
  'RevisionTag',
  closed({
    slug: Type.String(),
    label: Type.String(),
    color: Type.String(),
    emoji: optional(Type.String()),
    icon: optional(Type.String()),
  }),
);

const layoutFields = {
  width: words(['default', 'wide']),
  cover: Type.Boolean(),
  coverSize: words(['hero', 'full', 'background']),
  coverMask: words(['none', 'radial']),
  title: Type.Boolean(),
  description: Type.Boolean(),
  tableOfContents: Type.Boolean(),
  outline: Type.Boolean(),
  pagination: Type.Boolean(),
  metadata: Type.Boolean(),
  tags: Type.Boolean(),
  actions: Type.Boolean(),
  anchors: Type.Boolean(),
};
/** Which parts of a page are shown; every field is always there in answers. */
export const PageLayout = component('PageLayout', closed(layoutFields));
export type PageLayout = Static<typeof PageLayout>;

/** The picture above a page (resources section 25). */
export const PageCover = component(
  'PageCover',
  closed({
    ref: optional(ContentRef),
    refDark: optional(ContentRef),
    textColor: optional(words(['black', 'white'])),
    textColorDark: optional(words(['black', 'white'])),
    yPos: Type.Number(),
    height: optional(Type.Number({ minimum: 10, maximum: 700 })),
  }),
);
export type PageCover = Static<typeof PageCover>;

/** Canonical page and alternates, for search engines. */
export const PageMetaLinks = component(
  'PageMetaLinks',
  closed({ canonical: optional(ContentRef), alternates: optional(Type.Array(ContentRef)) }),
);
export type PageMetaLinks = Static<typeof PageMetaLinks>;

const commonFields = {
  id: Id(),
  title: Type.String(),
  linkTitle: optional(Type.String()),
  emoji: optional(Type.String()),
  icon: optional(Type.String()),
  createdAt: optional(DateTime),
  updatedAt: optional(DateTime),
  condition: optional(Type.String()),
};
interface PageBase {
  id: string;
  title: string;
  linkTitle?: string;
  emoji?: string;
  icon?: string;
  createdAt?: string;
  updatedAt?: string;
  condition?: string;
}
/** A page with content. `markdown` or `document` is there when one page was asked for, as `format` says. */
export interface RevisionPageDocument extends PageBase {
  type: 'document';
  kind: 'sheet';
  urls: { app: string };
  slug: string;
  path: string;
  description?: string;
  pages: (RevisionPageDocument | RevisionPageLink)[];
  layout: PageLayout;
  cover?: PageCover;
  variables?: Record<string, string | number | boolean>;
  hidden?: boolean;
  noIndex?: boolean;
  noRobotsIndex?: boolean;
  metaLinks?: PageMetaLinks;
  tags: { tag: ContentRefType; primary?: boolean }[];
  markdown?: string;
  document?: JSONDocumentType;
  documentId?: string;
  git?: GitSyncBlob;
}
/** A heading in the table of contents, only at the top level. */
export interface RevisionPageGroup extends PageBase {
  type: 'group';
  kind: 'group';
  slug: string;
  path: string;
  pages: (RevisionPageDocument | RevisionPageLink)[];
  hidden?: boolean;
  noIndex?: boolean;
  noRobotsIndex?: boolean;
}
/** An entry of the table of contents that leads elsewhere. */
export interface RevisionPageLink extends PageBase {
  type: 'link';
  kind: 'link';
  target: ContentRefType;
  href?: string;
  hidden?: boolean;
}
/** Pages that come from somewhere else, as one entry at the end of the top level. */
export interface RevisionPageComputed extends PageBase {
  type: 'computed';
  computed: ComputedContentSource;
}
export type RevisionPage = RevisionPageDocument | RevisionPageGroup | RevisionPageLink | RevisionPageComputed;

const ChildRef = forwardRef<RevisionPageDocument | RevisionPageLink>('RevisionPageChild');
const indexing = { hidden: flag, noIndex: flag, noRobotsIndex: flag };
/** A page with content (resources section 25). */
export const RevisionPageDocument = component(
  'RevisionPageDocument',
  Type.Unsafe<RevisionPageDocument>(
    closed({
      type: Type.Literal('document'),
      kind: Type.Literal('sheet', { deprecated: true }),
      ...commonFields,
      urls: closed({ app: Uri }),
      slug: Type.String(),
      path: Type.String({ description: 'Slugs from the root.' }),
      description: optional(Type.String()),
      pages: Type.Array(ChildRef),
      layout: PageLayout,
      cover: optional(PageCover),
      variables: optional(Variables),
      ...indexing,
      metaLinks: optional(PageMetaLinks),
      tags: Type.Array(closed({ tag: ContentRef, primary: flag })),
      markdown: optional(Type.String()),
      document: optional(JSONDocument),
      documentId: optional(Id()),
      git: optional(GitSyncBlob),
    }),
  ),
);
/** A heading of the table of contents (resources section 25). */
export const RevisionPageGroup = component(
  'RevisionPageGroup',
  Type.Unsafe<RevisionPageGroup>(
    closed({
      type: Type.Literal('group'),
      kind: Type.Literal('group', { deprecated: true }),
      ...commonFields,
      slug: Type.String(),
      path: Type.String(),
      pages: Type.Array(ChildRef),
      ...indexing,
    }),
  ),
);
/** A link in the table of contents (resources section 25). */
export const RevisionPageLink = component(
  'RevisionPageLink',
  Type.Unsafe<RevisionPageLink>(
    closed({
      type: Type.Literal('link'),
      kind: Type.Literal('link', { deprecated: true }),
      ...commonFields,
      target: ContentRef,
      href: optional(Type.String()),
      hidden: flag,
    }),
  ),
);
/** Computed content in the table of contents (resources section 25). */
export const RevisionPageComputed = component(
  'RevisionPageComputed',
  Type.Unsafe<RevisionPageComputed>(
    closed({ type: Type.Literal('computed'), ...commonFields, computed: ComputedContentSource }),
  ),
);
const oneOf = <T>(names: readonly string[]) =>
  Type.Unsafe<T>({
    type: 'object',
    required: ['type'],
    discriminator: { propertyName: 'type' },
    oneOf: names.map((name) => ({ $ref: componentPointer(name) })),
  });
component(
  'RevisionPageChild',
  oneOf<RevisionPageDocument | RevisionPageLink>(['RevisionPageDocument', 'RevisionPageLink']),
);
/** Any page of a revision; groups and computed content only at the top level. */
export const RevisionPage = component(
  'RevisionPage',
  oneOf<RevisionPage>(['RevisionPageDocument', 'RevisionPageGroup', 'RevisionPageLink', 'RevisionPageComputed']),
);

/** A whole revision: table of contents, files, reusable contents, without bodies (resources section 25). */
export const Revision = component(
  'Revision',
  closed({
    object: Type.Literal('revision'),
    id: Id(),
    parents: Type.Array(Id()),
    pages: Type.Array(RevisionPage),
    files: Type.Array(RevisionFile),
    reusableContents: Type.Array(RevisionReusableContent),
    tags: Type.Array(RevisionTag),
    variables: optional(Variables),
    createdAt: DateTime,
    urls: closed({ app: Uri, published: optional(Uri), public: optional(Uri) }),
    type: words(['edits', 'merge', 'rollback', 'update', 'computed']),
    mergedFrom: optional(ChangeRequest),
    git: optional(
      closed({
        oid: Type.String({ description: 'The commit.' }),
        message: Type.String(),
        createdByGitBook: Type.Boolean({ description: 'Whether the commit was made by an export.' }),
        url: optional(Type.String()),
        ref: optional(Type.String()),
      }),
    ),
  }),
);
export type Revision = Static<typeof Revision>;

/** The two booleans that reads of content take (reference: Space content; gaps-filled section 5). */
export const contentOptions = {
  metadata: Type.Optional(Type.Boolean({ default: true, description: 'False omits mutable git metadata.' })),
  computed: Type.Optional(Type.Boolean({ default: true, description: 'False omits computed content.' })),
};

const read = {
  owner: 'content',
  surface: 'public',
  method: 'GET',
  tag: 'Space content',
  access: 'space:view',
  scope: 'space:read',
  query: closed(contentOptions),
  success: { 200: Revision },
  etag: true,
} as const;

/** Reads of whole revisions. */
export const revisionOperations = {
  getCurrentRevision: operation({
    ...read,
    id: 'getCurrentRevision',
    path: '/spaces/{spaceId}/content',
    summary: 'Get the current revision of a space',
    params: closed({ spaceId: Id() }),
  }),
  getRevisionById: operation({
    ...read,
    id: 'getRevisionById',
    path: '/spaces/{spaceId}/revisions/{revisionId}',
    summary: 'Get a revision',
    params: closed({ spaceId: Id(), revisionId: Id() }),
  }),
  getRevisionOfChangeRequestById: operation({
    ...read,
    id: 'getRevisionOfChangeRequestById',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/content',
    summary: 'Get the current revision of a change request',
    params: closed({ spaceId: Id(), changeRequestId: Id('Its id, or its number in the space.') }),
  }),
};
