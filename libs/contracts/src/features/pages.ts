import Type, { type TProperties } from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id, words } from '../kit/schema.ts';
import { JSONDocument } from '../schemas/document.ts';
import {
  contentOptions,
  RevisionPage,
  RevisionPageDocument,
  RevisionPageGroup,
  RevisionReusableContent,
} from './revisions.ts';

const common = {
  owner: 'content',
  surface: 'public',
  method: 'GET',
  tag: 'Space content',
  access: 'space:view',
  scope: 'space:read',
} as const;

const inSpace = { spaceId: Id() };
const inRevision = { spaceId: Id(), revisionId: Id() };
const inChangeRequest = { spaceId: Id(), changeRequestId: Id('Its id, or its number in the space.') };
const page = { pageId: Id() };
const pagePath = { pagePath: Type.String({ maxLength: 2048, description: 'Slugs from the root, `guides/start`.' }) };
const reusableContent = { reusableContentId: Id() };

const transformations = {
  evaluated: Type.Optional(
    words(['true', 'false', 'deterministic-only'], {
      default: 'false',
      description: 'Whether expressions are replaced by the values of variables.',
    }),
  ),
  dereferenced: Type.Optional(
    words(['true', 'false', 'reusable-contents'], {
      default: 'false',
      description: 'Whether reusable contents are put in place of the blocks that refer to them.',
    }),
  ),
};
const pageQuery = {
  format: Type.Optional(
    words(['document', 'markdown'], { default: 'markdown', description: 'The form of the page body.' }),
  ),
  'format.markdown.refs': Type.Optional(
    words(['relative', 'stable'], {
      default: 'relative',
      description: '`relative`: links lead from page to page (`../start.md`); `stable`: they name ids (`/pages/<id>`).',
    }),
  ),
  ...transformations,
  ...contentOptions,
};
const pathQuery = { ...pageQuery, cachedMetadata: Type.Optional(Type.Boolean({ default: false })) };

const listPages = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...common,
    id,
    path,
    summary,
    description: 'The whole table of contents at once, without bodies.',
    params: closed(params),
    query: closed(contentOptions),
    success: { 200: closed({ pages: Type.Array(RevisionPage) }) },
    etag: true,
  });
const getPage = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...common,
    id,
    path,
    summary,
    params: closed(params),
    query: closed(pageQuery),
    success: { 200: RevisionPage },
    etag: true,
  });
const getByPath = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...common,
    id,
    path,
    summary,
    description: 'The path may be percent-encoded or have plain slashes.',
    params: closed(params),
    query: closed(pathQuery),
    success: {
      200: Type.Unsafe<RevisionPageDocument | RevisionPageGroup>({
        type: 'object',
        required: ['type'],
        discriminator: { propertyName: 'type' },
        oneOf: [RevisionPageDocument, RevisionPageGroup],
      }),
    },
    etag: true,
  });
const getReusable = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...common,
    id,
    path,
    summary,
    params: closed(params),
    query: closed(contentOptions),
    success: { 200: RevisionReusableContent },
    etag: true,
  });
const getBody = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...common,
    id,
    path,
    summary,
    params: closed(params),
    query: closed(transformations),
    success: { 200: JSONDocument },
    etag: true,
  });

const space = '/spaces/{spaceId}/content';
const revision = '/spaces/{spaceId}/revisions/{revisionId}';
const changeRequest = '/spaces/{spaceId}/change-requests/{changeRequestId}/content';

/** Reads of pages, documents and reusable contents: of the space, of a revision, of a change request. */
export const pageOperations = {
  listPages: listPages('listPages', `${space}/pages`, 'List the pages of a space', inSpace),
  listPagesInRevisionById: listPages(
    'listPagesInRevisionById',
    `${revision}/pages`,
    'List the pages of a revision',
    inRevision,
  ),
  listPagesInChangeRequest: listPages(
    'listPagesInChangeRequest',
    `${changeRequest}/pages`,
    'List the pages of a change request',
    inChangeRequest,
  ),
  getPageById: getPage('getPageById', `${space}/page/{pageId}`, 'Get a page', { ...inSpace, ...page }),
  getPageInRevisionById: getPage('getPageInRevisionById', `${revision}/page/{pageId}`, 'Get a page of a revision', {
    ...inRevision,
    ...page,
  }),
  getPageInChangeRequestById: getPage(
    'getPageInChangeRequestById',
    `${changeRequest}/page/{pageId}`,
    'Get a page of a change request',
    { ...inChangeRequest, ...page },
  ),
  getPageByPath: getByPath('getPageByPath', `${space}/path/{pagePath*}`, 'Get a page by its path', {
    ...inSpace,
    ...pagePath,
  }),
  getPageInRevisionByPath: getByPath(
    'getPageInRevisionByPath',
    `${revision}/path/{pagePath*}`,
    'Get a page of a revision by its path',
    { ...inRevision, ...pagePath },
  ),
  getPageInChangeRequestByPath: getByPath(
    'getPageInChangeRequestByPath',
    `${changeRequest}/path/{pagePath*}`,
    'Get a page of a change request by its path',
    { ...inChangeRequest, ...pagePath },
  ),
  getPageDocumentInRevisionById: getBody(
    'getPageDocumentInRevisionById',
    `${revision}/page/{pageId}/document`,
    'Get the document of a page of a revision',
    { ...inRevision, ...page },
  ),
  getReusableContentById: getReusable(
    'getReusableContentById',
    `${space}/reusable-contents/{reusableContentId}`,
    'Get a reusable content',
    { ...inSpace, ...reusableContent },
  ),
  getReusableContentInRevisionById: getReusable(
    'getReusableContentInRevisionById',
    `${revision}/reusable-contents/{reusableContentId}`,
    'Get a reusable content of a revision',
    { ...inRevision, ...reusableContent },
  ),
  getReusableContentInChangeRequestById: getReusable(
    'getReusableContentInChangeRequestById',
    `${changeRequest}/reusable-contents/{reusableContentId}`,
    'Get a reusable content of a change request',
    { ...inChangeRequest, ...reusableContent },
  ),
  getReusableContentDocumentInRevisionById: getBody(
    'getReusableContentDocumentInRevisionById',
    `${revision}/reusable-contents/{reusableContentId}/document`,
    'Get the document of a reusable content of a revision',
    { ...inRevision, ...reusableContent },
  ),
  getDocumentById: operation({
    ...common,
    id: 'getDocumentById',
    path: '/spaces/{spaceId}/documents/{documentId}',
    summary: 'Get a document',
    description: 'By the `documentId` of a page or the `document` of a reusable content. Documents never change.',
    params: closed({ ...inSpace, documentId: Id() }),
    query: closed({ schema: Type.Optional(words(['current', 'next'], { description: 'There is one schema.' })) }),
    success: { 200: JSONDocument },
    etag: true,
  }),
};
