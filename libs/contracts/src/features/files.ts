import type { TProperties } from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id, listOf, paging } from '../kit/schema.ts';
import { contentOptions, RevisionFile } from './revisions.ts';

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
const file = { fileId: Id() };

const listFiles = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...common,
    id,
    path,
    summary,
    params: closed(params),
    query: closed({ ...paging, ...contentOptions }),
    success: { 200: listOf(RevisionFile) },
  });
const getFile = <const P extends TProperties>(id: string, path: string, summary: string, params: P) =>
  operation({
    ...common,
    id,
    path,
    summary,
    params: closed(params),
    query: closed(contentOptions),
    success: { 200: RevisionFile },
    etag: true,
  });

const space = '/spaces/{spaceId}/content/files';
const revision = '/spaces/{spaceId}/revisions/{revisionId}/files';
const changeRequest = '/spaces/{spaceId}/change-requests/{changeRequestId}/content/files';

/** Reads of files: of the space, of a revision, of a change request. */
export const fileOperations = {
  listFiles: listFiles('listFiles', space, 'List the files of a space', inSpace),
  getFileById: getFile('getFileById', `${space}/{fileId}`, 'Get a file', { ...inSpace, ...file }),
  listFilesInRevisionById: listFiles('listFilesInRevisionById', revision, 'List the files of a revision', inRevision),
  getFileInRevisionById: getFile('getFileInRevisionById', `${revision}/{fileId}`, 'Get a file of a revision', {
    ...inRevision,
    ...file,
  }),
  listFilesInChangeRequestById: listFiles(
    'listFilesInChangeRequestById',
    changeRequest,
    'List the files of a change request',
    inChangeRequest,
  ),
  getFileInChangeRequestById: getFile(
    'getFileInChangeRequestById',
    `${changeRequest}/{fileId}`,
    'Get a file of a change request',
    { ...inChangeRequest, ...file },
  ),
};
