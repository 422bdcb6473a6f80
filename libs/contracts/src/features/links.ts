import Type, { type Static, type TProperties } from 'typebox';
import { component, embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, paging, words } from '../kit/schema.ts';
import { Collection } from './collections.ts';
import { OpenAPISpec } from './openapi-specs.ts';
import { RevisionFile, RevisionPage, RevisionReusableContent } from './revisions.ts';
import { Space } from './spaces.ts';

const optional = Type.Optional;
const organization = embedded('organization', 'Organization');
const inSpace = { organization, space: Space };

/** Something that links, or that is linked to, with the resources around it (resources section 5). */
export const ContentLocation = component(
  'ContentLocation',
  Type.Union([
    closed({ kind: Type.Literal('file'), ...inSpace, file: RevisionFile }),
    closed({
      kind: Type.Literal('page'),
      ...inSpace,
      page: RevisionPage,
      internalLocation: optional(
        Type.Union([
          closed({ type: Type.Literal('anchor'), anchor: Type.String() }),
          closed({ type: Type.Literal('node'), node: Type.String({ description: 'Key of the block.' }) }),
        ]),
      ),
    }),
    closed({ kind: Type.Literal('reusable-content'), ...inSpace, reusableContent: RevisionReusableContent }),
    closed({ kind: Type.Literal('space'), ...inSpace }),
    closed({ kind: Type.Literal('collection'), organization, collection: Collection }),
    closed({ kind: Type.Literal('openapi'), organization, openAPISpec: OpenAPISpec }),
    closed({ kind: Type.Literal('user'), user: embedded('user', 'User') }),
    closed({ kind: Type.Literal('url'), url: Type.String() }),
  ]),
);
export type ContentLocation = Static<typeof ContentLocation>;

const Status = words(['ok', 'broken', 'in-app'], {
  description: '`ok`: no problem; `broken`: the target is missing; `in-app`: an address inside this application.',
});

/** One target of links, and where it is linked from (resources section 5). */
export const ContentReferenceUsage = component(
  'ContentReferenceUsage',
  closed({
    status: Status,
    relation: words(['reference', 'dependsOn']),
    targetReference: optional(ContentLocation),
    locationReferences: Type.Array(ContentLocation),
  }),
);
export type ContentReferenceUsage = Static<typeof ContentReferenceUsage>;

const ContentReferencesStats = component(
  'ContentReferencesStats',
  closed({
    total: Type.Number({ description: 'Different targets.' }),
    broken: closed({ total: Type.Number(), changeRequest: optional(Type.Number()) }),
  }),
);
const usages = closed({ ...listOf(ContentReferenceUsage).properties, stats: ContentReferencesStats });

const read = {
  owner: 'content',
  surface: 'public',
  method: 'GET',
  tag: 'Links',
  access: 'space:view',
} as const;
const space = { spaceId: Id() };
const page = { ...space, pageId: Id() };
const withStatus = closed({ ...paging, status: optional(Status) });

const links = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...read,
    id,
    path,
    summary,
    description: 'One item per target. A target that the caller may not view is `broken` to it.',
    params: closed(params),
    query: withStatus,
    success: { 200: usages },
  });
const backlinks = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...read,
    id,
    path,
    summary,
    description: 'From all spaces of the organization that the caller may view; one item per page or reusable content.',
    params: closed(params),
    query: closed(paging),
    success: { 200: listOf(ContentLocation) },
  });

/** What content links to, and what links to it (reference: Space link item; gaps-filled section 11). */
export const linkOperations = {
  listSpaceLinks: links('listSpaceLinks', '/spaces/{spaceId}/links', 'List the links of a space', space),
  listPageLinksInSpace: links(
    'listPageLinksInSpace',
    '/spaces/{spaceId}/content/page/{pageId}/links',
    'List the links of a page',
    page,
  ),
  listSpacePageBacklinks: backlinks(
    'listSpacePageBacklinks',
    '/spaces/{spaceId}/content/page/{pageId}/backlinks',
    'List what links to a page',
    page,
  ),
  listSpaceFileBacklinks: backlinks(
    'listSpaceFileBacklinks',
    '/spaces/{spaceId}/content/files/{fileId}/backlinks',
    'List what uses a file',
    { ...space, fileId: Id() },
  ),
};
