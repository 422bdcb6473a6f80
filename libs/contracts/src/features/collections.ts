import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, nullable, paging, Uri, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { DefaultLevel, Space, spaceParams } from './spaces.ts';

const optional = Type.Optional;
const Title = Type.String({ maxLength: limits.collection.title });
const Description = Type.String({ maxLength: limits.collection.description });

/** A group of spaces and other collections (resources section 14). */
export const Collection = component(
  'Collection',
  closed({
    object: Type.Literal('collection'),
    id: Id(),
    title: Title,
    description: optional(Description),
    organization: Id(),
    parent: optional(Id('The collection that it is in.')),
    defaultLevel: DefaultLevel,
    urls: closed({ location: Uri, app: Uri }),
    permissions: closed({
      view: Type.Boolean(),
      admin: Type.Boolean({ description: 'Title, description, default level, deletion.' }),
      viewInviteLinks: Type.Boolean(),
      create: Type.Boolean({ description: 'Add spaces and collections.' }),
    }),
  }),
);
/** What a handler answers for a collection. */
export type Collection = Static<typeof Collection>;

const Neighbour = Type.Union([
  closed({ type: Type.Literal('space'), space: Id() }),
  closed({ type: Type.Literal('collection'), collection: Id() }),
]);
/** Where among its siblings something goes (resources section 29). */
const ContentPosition = component(
  'ContentPosition',
  closed({ before: optional(Neighbour), after: optional(Neighbour) }, { description: 'Give one of the two.' }),
);
export type ContentPosition = Static<typeof ContentPosition>;

const Move = closed({
  parent: optional(nullable(Id('The collection to move to; null = top of the organization.'))),
  position: optional(ContentPosition),
});
const Transfer = closed({ organization: Id('The organization to move to.') });

/** Path parameter `{collectionId}`. */
export const collectionParams = { collectionId: Id() };
const organizationParams = closed({ organizationId: Id() });
const slow = 120_000;

/** Operations on collections, and those that move spaces between them. */
export const collectionOperations = {
  createCollection: operation({
    id: 'createCollection',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/orgs/{organizationId}/collections',
    tag: 'Collections',
    summary: 'Create a collection',
    description: `With a \`parent\`, whoever may add to that one can. At most ${limits.collection.depth} levels, and ${limits.collection.perOrganization} collections in an organization.`,
    access: 'organization:createContent',
    scope: 'space:write',
    params: organizationParams,
    body: closed({ title: optional(Title), parent: optional(Id('The collection that it goes into.')) }),
    bodyOptional: true,
    success: { 201: Collection },
    errors: [409],
    location: true,
  }),
  listCollectionsInOrganizationById: operation({
    id: 'listCollectionsInOrganizationById',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/orgs/{organizationId}/collections',
    tag: 'Collections',
    summary: 'List the collections of an organization',
    description: 'Those that the caller may view; siblings in their order.',
    access: 'organization:view',
    scope: 'space:read',
    params: organizationParams,
    query: closed({
      ...paging,
      nested: optional(Type.Boolean({ default: true, description: 'Also those inside of others.' })),
    }),
    success: { 200: listOf(Collection) },
  }),
  getCollectionById: operation({
    id: 'getCollectionById',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/collections/{collectionId}',
    tag: 'Collections',
    summary: 'Get a collection',
    access: 'collection:view',
    scope: 'space:read',
    params: closed(collectionParams),
    success: { 200: Collection },
  }),
  updateCollectionById: operation({
    id: 'updateCollectionById',
    owner: 'content',
    surface: 'public',
    method: 'PATCH',
    path: '/collections/{collectionId}',
    tag: 'Collections',
    summary: 'Change a collection',
    access: 'collection:admin',
    scope: 'space:write',
    params: closed(collectionParams),
    body: closed({
      title: optional(Title),
      description: optional(Description),
      defaultLevel: optional(DefaultLevel),
    }),
    success: { 200: Collection },
    errors: [409],
  }),
  deleteCollectionById: operation({
    id: 'deleteCollectionById',
    owner: 'content',
    surface: 'public',
    method: 'DELETE',
    path: '/collections/{collectionId}',
    tag: 'Collections',
    summary: 'Delete a collection and what is in it',
    description: `Final for it and the collections inside. The spaces inside are deleted too, and can be restored for ${limits.space.retentionDays} days. 205 = deleted, 204 = there was nothing to delete.`,
    access: 'collection:admin',
    scope: 'space:write',
    deadlineMs: slow,
    params: closed(collectionParams),
    success: { 205: null, 204: null },
    errors: [409],
  }),
  listSpacesInCollectionById: operation({
    id: 'listSpacesInCollectionById',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/collections/{collectionId}/spaces',
    tag: 'Collections',
    summary: 'List the spaces of a collection',
    description: 'Those directly in it that the caller may view, in their order.',
    access: 'collection:view',
    scope: 'space:read',
    params: closed(collectionParams),
    query: closed({ ...paging }),
    success: { 200: listOf(Space) },
  }),
  moveCollection: operation({
    id: 'moveCollection',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/collections/{collectionId}/move',
    tag: 'Collections',
    summary: 'Move a collection',
    description: 'Without a `position` it goes to the end. 409 when nothing would change.',
    access: 'collection:admin',
    scope: 'space:write',
    params: closed(collectionParams),
    body: Move,
    success: { 200: Collection },
    errors: [409],
  }),
  transferCollection: operation({
    id: 'transferCollection',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/collections/{collectionId}/transfer',
    tag: 'Collections',
    summary: 'Move a collection to another organization',
    description:
      'With everything inside; for administrators of both. What members and teams were given in the old organization ends. 409 when it is there already, 412 when it cannot be moved.',
    access: 'collection:admin',
    scope: 'space:write',
    deadlineMs: slow,
    params: closed(collectionParams),
    body: Transfer,
    success: { 200: Collection },
    errors: [409, 412],
  }),
  moveSpace: operation({
    id: 'moveSpace',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/spaces/{spaceId}/move',
    tag: 'Spaces',
    summary: 'Move a space',
    description: 'Without a `position` it goes to the end. 409 when nothing would change.',
    access: 'space:admin',
    scope: 'space:write',
    params: closed(spaceParams),
    body: Move,
    success: { 200: Space },
    errors: [409],
    etag: true,
  }),
  transferSpace: operation({
    id: 'transferSpace',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/spaces/{spaceId}/transfer',
    tag: 'Spaces',
    summary: 'Move a space to another organization',
    description:
      'It goes to the top of it; for administrators of both. What members and teams were given in the old organization ends. 409 when it is there already, 412 when it cannot be moved.',
    access: 'space:admin',
    params: closed(spaceParams),
    body: Transfer,
    success: { 200: Space },
    errors: [409, 412],
    etag: true,
  }),
};

/** Roles as filters of lists. */
export const roleFilter = words(['admin', 'create', 'edit', 'review', 'comment', 'read']);
