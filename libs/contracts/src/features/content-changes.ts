import Type, { type TProperties } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, nullable, Uri, UrlInput } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { Document } from '../schemas/document.ts';
import { union } from '../schemas/document-inlines.ts';
import type { DocumentInput } from '../schemas/document-types.ts';
import { ChangeRequest, changeRequestParams } from './change-requests.ts';
import { contentOptions, RevisionFile } from './revisions.ts';
import { RevisionSemanticChanges } from './semantic-changes.ts';

const optional = Type.Optional;
const flag = optional(Type.Boolean());

/** One line of text: no control characters (own rule; the sources give only lengths). */
const line = (maxLength: number, minLength = 0) =>
  Type.String({ minLength, maxLength, pattern: '^[^\\u0000-\\u001F\\u007F]*$' });

/** A name that later changes of the same batch and links in its markdown can use. */
const Ref = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u0020\\u007F?#\\\\]+$',
  description: 'A name for links within this batch: `./<ref>.md`.',
});

const metadata = {
  title: optional(line(limits.page_.title, 1)),
  slug: optional(
    Type.String({
      maxLength: limits.page_.slug,
      pattern: '^[^\\u0000-\\u0020\\u007F/?#%\\\\]*$',
      description: 'Unique among siblings. Absent or empty: made from the title.',
    }),
  ),
  emoji: optional(line(limits.page_.emoji)),
  icon: optional(line(limits.page_.icon)),
  description: optional(
    Type.String({
      maxLength: limits.page_.description,
      pattern: '^[^\\u0000-\\u0008\\u000B\\u000C\\u000E-\\u001F\\u007F]*$',
    }),
  ),
  hidden: flag,
  noIndex: flag,
  noRobotsIndex: flag,
  condition: optional(line(limits.page_.condition)),
};
const at = optional(Type.Integer({ minimum: 0, description: 'Place among the siblings, from 0. Absent: last.' }));

/** Metadata fields of a page as a change gives them. */
export interface PageFieldsInput {
  title?: string;
  slug?: string;
  emoji?: string;
  icon?: string;
  description?: string;
  hidden?: boolean;
  noIndex?: boolean;
  noRobotsIndex?: boolean;
  condition?: string;
}
export interface InsertPageInput extends PageFieldsInput {
  operation: 'insert_page';
  document: DocumentInput;
  into?: string;
  at?: number;
  ref?: string;
}
export interface UpdatePageInput extends PageFieldsInput {
  operation: 'update_page';
  page: string;
  document?: DocumentInput;
  into?: string | null;
  at?: number;
}
export interface DeletePageInput {
  operation: 'delete_page';
  page: string;
}
export interface RevertPageInput {
  operation: 'revert_page';
  page: string;
  revision?: string;
  block?: string[];
}
export interface InsertFilesInput {
  operation: 'insert_files';
  files: { url?: string; base64?: string; name: string; contentType?: string; ref?: string }[];
}
/** One step of an edit (gaps-filled section 7). */
export type ContentChangeInput =
  | InsertPageInput
  | UpdatePageInput
  | DeletePageInput
  | RevertPageInput
  | InsertFilesInput;

const change = (name: ContentChangeInput['operation'], fields: TProperties) =>
  closed({ operation: Type.Literal(name), ...fields });
const base64Length = Math.ceil(limits.file.base64Bytes / 3) * 4;

/** One step of an edit of a change request's content. */
export const ContentChange = component(
  'ChangeRequestContentChange',
  union<ContentChangeInput>('operation', {
    insert_page: change('insert_page', {
      document: Document,
      ...metadata,
      into: optional(Id('The parent page. Absent: the top level.')),
      at,
      ref: optional(Ref),
    }),
    update_page: change('update_page', {
      page: Id(),
      document: optional(Document),
      ...metadata,
      into: optional(nullable(Id('The new parent page; null = the top level.'))),
      at,
    }),
    delete_page: change('delete_page', { page: Id('Goes with everything below it.') }),
    revert_page: change('revert_page', {
      page: Id(),
      revision: optional(Id('Absent: the revision that the change request is based on.')),
      block: optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
          minItems: 1,
          maxItems: 1000,
          description: 'Keys: only these blocks go back.',
        }),
      ),
    }),
    insert_files: change('insert_files', {
      files: Type.Array(
        closed({
          url: optional(UrlInput),
          base64: optional(Type.String({ minLength: 1, maxLength: base64Length })),
          name: line(limits.file.name, 1),
          contentType: optional(line(256, 1)),
          ref: optional(Ref),
        }),
        { minItems: 1, maxItems: limits.file.maxPerChange },
      ),
    }),
  }),
);

const PageRef = closed({ object: Type.Literal('page'), id: Id(), urls: closed({ location: Uri }) });
/** What became of one page. */
export type ContentOutcome =
  | { object: 'created_page'; ref?: string; page: { object: 'page'; id: string; urls: { location: string } } }
  | { object: 'updated_page'; page: { object: 'page'; id: string; urls: { location: string } } }
  | { object: 'deleted_page'; page: string };

/** The two answers of an edit: with and without `compat`. */
export type ContentUpdateAnswer =
  | ChangeRequest
  | { changeRequest: ChangeRequest; changes: ContentOutcome[]; insertedFiles?: RevisionFile[] };

const ContentUpdate = component(
  'ChangeRequestContentUpdate',
  closed({
    changeRequest: ChangeRequest,
    changes: Type.Array(
      union<ContentOutcome>('object', {
        created: closed({ object: Type.Literal('created_page'), ref: optional(Type.String()), page: PageRef }),
        updated: closed({ object: Type.Literal('updated_page'), page: PageRef }),
        deleted: closed({ object: Type.Literal('deleted_page'), page: Id() }),
      }),
    ),
    insertedFiles: optional(Type.Array(RevisionFile)),
  }),
);

const changesLimit = optional(
  Type.Integer({ minimum: 0, maximum: limits.changeList.maximum, default: limits.changeList.default }),
);
const common = { owner: 'content', surface: 'public' } as const;

/** Editing the content of a change request, and seeing what changed. */
export const contentChangeOperations = {
  updateChangeRequestContent: operation({
    ...common,
    id: 'updateChangeRequestContent',
    method: 'POST',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/content',
    tag: 'Change requests',
    summary: 'Edit the content of a change request',
    description:
      'Applied in order, all or nothing, as one new revision. Links in markdown may name pages of the same batch ' +
      '(`./<ref>.md`), existing pages (`/pages/<id>`, or by path) and files (`/files/<id>`).',
    access: 'space:edit',
    scope: 'space:write',
    params: closed(changeRequestParams),
    query: closed({
      compat: optional(Type.Boolean({ default: true, description: '`true` answers the change request alone.' })),
    }),
    body: closed({
      changes: Type.Array(ContentChange, {
        minItems: limits.contentChanges.minItems,
        maxItems: limits.contentChanges.maxItems,
      }),
    }),
    bodyLimit: 'large',
    success: {
      200: Type.Unsafe<ContentUpdateAnswer>({
        anyOf: [ChangeRequest, ContentUpdate],
      }),
    },
    errors: [409, 413],
    etag: true,
  }),
  getChangeRequestChanges: operation({
    ...common,
    id: 'getChangeRequestChanges',
    method: 'GET',
    path: '/spaces/{spaceId}/change-requests/{changeRequestId}/changes',
    tag: 'Change requests',
    summary: 'List what a change request changes',
    description: 'Against the content of the space that it is based on; of a merged one, what it changed.',
    access: 'space:view',
    scope: 'space:read',
    params: closed(changeRequestParams),
    query: closed({ limit: changesLimit }),
    success: { 200: RevisionSemanticChanges },
  }),
  getRevisionSemanticChanges: operation({
    ...common,
    id: 'getRevisionSemanticChanges',
    method: 'GET',
    path: '/spaces/{spaceId}/revisions/{revisionId}/changes',
    tag: 'Space content',
    summary: 'List what a revision changed',
    description: 'Against its first parent.',
    access: 'space:view',
    scope: 'space:read',
    params: closed({ spaceId: Id(), revisionId: Id() }),
    query: closed({ limit: changesLimit, ...contentOptions }),
    success: { 200: RevisionSemanticChanges },
  }),
};
