import Type, { type Static } from 'typebox';
import { component, embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, paging, Uri, UrlInput, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { JSONDocument } from '../schemas/document.ts';
import { ContentImportRun } from './import-runs.ts';
import { ApplySpaceTemplate } from './templates.ts';

const optional = Type.Optional;

/** One line of text: no control characters (own rule; the reference gives only the length). */
const line = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u001F\\u007F]*$', description: 'One line of text.' });

/** Subject of a change request, as callers give it. */
export const ChangeRequestSubject = line(limits.changeRequest.subject);

/** Statuses of a change request (gaps-filled section 4). */
export const changeRequestStatuses = ['draft', 'open', 'archived', 'merged'] as const;
const Status = words(changeRequestStatuses);
const UrlRef = closed({ kind: Type.Literal('url'), url: UrlInput });
const LinkTitle = line(limits.changeRequest.linkTitle);

/** A change request as clients see it (resources section 6). */
export const ChangeRequest = component(
  'ChangeRequest',
  closed({
    object: Type.Literal('change-request'),
    id: Id(),
    number: Type.Number({ description: 'Counts up in the space, without gaps.' }),
    status: Status,
    subject: Type.String({ maxLength: limits.changeRequest.subject }),
    description: optional(JSONDocument),
    createdBy: embedded('user', 'User'),
    createdAt: DateTime,
    updatedAt: DateTime,
    mergedBy: optional(embedded('user', 'User')),
    mergedAt: optional(DateTime),
    space: Id(),
    revision: Id('Its newest revision.'),
    revisionInitial: Id('The revision of the space that it was created from.'),
    revisionMergedAncestor: optional(Id('The revision of the space that was last merged into it.')),
    revisionMerged: optional(Id('The revision of the space that it became.')),
    comments: Type.Number({ description: 'Open comments.' }),
    outdated: Type.Boolean({ description: 'The primary content has changed since.' }),
    imports: optional(
      Type.Array(ContentImportRun, {
        description: 'The newest imports into it; only where one change request is read.',
      }),
    ),
    links: optional(
      Type.Array(closed({ id: Id(), ref: UrlRef, title: optional(LinkTitle) }), {
        maxItems: limits.changeRequest.links,
      }),
    ),
    urls: closed({ app: Uri, location: Uri }),
  }),
);
/** What a handler answers for a change request; embedded users are ids. */
export type ChangeRequest = Static<typeof ChangeRequest>;

const inSpace = closed({ spaceId: Id() });
/** Path parameters of one change request. */
export const changeRequestParams = { spaceId: Id(), changeRequestId: Id('Its id, or its number in the space.') };
const inChangeRequest = closed(changeRequestParams);

const text = (description: string) => optional(Type.String({ maxLength: limits.id.maxLength, description }));
const filters = {
  creator: optional(Id('Opened by this user.')),
  contributor: optional(Id('Opened or edited by this user.')),
  requestedReviewer: optional(Id('This user or team was asked for a review.')),
  topic: text('Came from this topic of a site.'),
  conversationsIssuesCluster: optional(Id('Came from this cluster of issues.')),
  orderBy: optional(words(['updatedAt', 'createdAt'], { default: 'updatedAt', description: 'Newest first.' })),
};

const common = { owner: 'content', surface: 'public', tag: 'Change requests' } as const;

/** Operations on change requests, except for their content. */
export const changeRequestOperations = {
  listChangeRequestsForSpace: operation({
    ...common,
    id: 'listChangeRequestsForSpace',
    method: 'GET',
    path: '/spaces/{spaceId}/change-requests',
    summary: 'List the change requests of a space',
    access: 'space:view',
    scope: 'space:read',
    params: inSpace,
    query: closed({ ...paging, status: optional(words(changeRequestStatuses, { default: 'open' })), ...filters }),
    success: { 200: listOf(ChangeRequest) },
  }),
  listChangeRequestsForOrganization: operation({
    ...common,
    id: 'listChangeRequestsForOrganization',
    method: 'GET',
    path: '/orgs/{organizationId}/change-requests',
    summary: 'List the change requests of an organization',
    description:
      'Those in spaces that the caller may view. Where these are more than 1,000, pages carry no `count`, except with `limit` 0, and may be shorter than `limit`: the list ends where there is no `next`.',
    access: 'organization:view',
    scope: 'space:read',
    params: closed({ organizationId: Id() }),
    query: closed({
      ...paging,
      status: optional(
        Type.Array(Status, { default: ['open'], minItems: 1, maxItems: 4, description: 'May be repeated.' }),
      ),
      space: optional(Id('In this space.')),
      site: optional(Id('Came from this site.')),
      styleguideRun: text('Came from this run of a style guide.'),
      finding: optional(words(['none', 'all'], { description: '`all`: only those that came from a finding.' })),
      ...filters,
    }),
    success: { 200: listOf(ChangeRequest) },
  }),
  createChangeRequest: operation({
    ...common,
    id: 'createChangeRequest',
    method: 'POST',
    path: '/spaces/{spaceId}/change-requests',
    summary: 'Open a change request',
    description: 'It starts from the current content of the space. Further properties are ignored.',
    access: 'space:edit',
    scope: 'space:write',
    params: inSpace,
    body: Type.Object({
      subject: optional(ChangeRequestSubject),
      template: optional(ApplySpaceTemplate),
    }),
    bodyOptional: true,
    success: { 201: ChangeRequest },
    location: true,
    etag: true,
  }),
  getChangeRequestById: operation({
    ...common,
    id: 'getChangeRequestById',
    method: 'GET',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}',
    summary: 'Get a change request',
    access: 'space:view',
    scope: 'space:read',
    params: inChangeRequest,
    success: { 200: ChangeRequest },
    etag: true,
  }),
  updateChangeRequestById: operation({
    ...common,
    id: 'updateChangeRequestById',
    method: 'PATCH',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}',
    summary: 'Change subject, description, links or status',
    description: 'What is absent stays as it is. A merged change request keeps its status (409).',
    access: 'space:edit',
    scope: 'space:write',
    params: inChangeRequest,
    body: closed({
      subject: optional(ChangeRequestSubject),
      description: optional(JSONDocument),
      links: optional(
        Type.Array(closed({ id: optional(Id()), ref: UrlRef, title: optional(LinkTitle) }), {
          maxItems: limits.changeRequest.links,
        }),
      ),
      status: optional(words(['draft', 'open', 'archived'])),
    }),
    success: { 200: ChangeRequest },
    errors: [409],
    etag: true,
    minimal: true,
  }),
  mergeChangeRequest: operation({
    ...common,
    id: 'mergeChangeRequest',
    method: 'POST',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/merge',
    summary: 'Merge a change request into the space',
    description:
      '`conflicts`: the space is as it was; both versions now stand in the change request, to be edited and merged again. 409 names every merge rule that is not met, and what would meet it.',
    access: 'space:merge',
    scope: 'change-request:merge',
    params: inChangeRequest,
    success: { 200: closed({ revision: Id(), result: words(['merge', 'conflicts']) }) },
    errors: [409],
    ifMatch: true,
  }),
  updateChangeRequest: operation({
    ...common,
    id: 'updateChangeRequest',
    method: 'POST',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/update',
    summary: 'Merge the primary content into a change request',
    description: '`conflicts`: where both changed the same, both versions stand in the change request.',
    access: 'space:edit',
    scope: 'space:write',
    params: inChangeRequest,
    success: { 200: closed({ revision: Id(), result: words(['update', 'conflicts']) }) },
    errors: [409],
    ifMatch: true,
  }),
  getContributorsByChangeRequestId: operation({
    ...common,
    id: 'getContributorsByChangeRequestId',
    method: 'GET',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/contributors',
    summary: 'List who took part in a change request',
    access: 'space:view',
    scope: 'space:read',
    params: inChangeRequest,
    success: {
      200: listOf(
        closed({
          updatedAt: DateTime,
          count: Type.Integer({ description: 'How often.' }),
          user: embedded('user', 'User'),
          actionType: words(['edit', 'comment']),
        }),
      ),
    },
  }),
};
