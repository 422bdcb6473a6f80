import Type from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id, Uri } from '../kit/schema.ts';
import { changeRequestParams } from './change-requests.ts';

/** PDF of content (reference: Endpoints). */
export const pdfOperations = {
  getChangeRequestPDF: operation({
    id: 'getChangeRequestPDF',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/pdf',
    tag: 'Change requests',
    summary: 'Get an address of a PDF of a change request',
    description: 'The address works for one hour. The file shows the content as it was when the address was asked for.',
    access: 'space:view',
    scope: 'space:read',
    params: closed(changeRequestParams),
    query: closed({
      page: Type.Optional(Id('Only this page and those below it.')),
      only: Type.Optional(Type.Boolean({ description: 'With `page`: without those below it.' })),
    }),
    success: { 200: closed({ url: Uri }) },
  }),
};
