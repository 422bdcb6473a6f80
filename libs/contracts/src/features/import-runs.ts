import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, paging, Uri, UrlInput, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

const optional = Type.Optional;

/** How an import run stands; `active` in filters is the first two (gaps-filled section 4). */
export const importRunStatuses = ['pending', 'in-progress', 'completed', 'failed', 'cancelled'] as const;
export type ImportRunStatus = (typeof importRunStatuses)[number];

/** What is imported (resources section 29). */
export const ContentImportSource = component(
  'ContentImportSource',
  Type.Union([
    closed({
      type: Type.Literal('website'),
      url: Type.String({
        format: 'uri',
        maxLength: limits.url.maxLength,
        description: 'The first page; those below its path are followed.',
      }),
    }),
    closed({
      type: Type.Literal('file'),
      files: Type.Array(Id(), {
        minItems: 1,
        maxItems: limits.importRun.files,
        uniqueItems: true,
        description: 'Keys of uploads of kind `import_file`: markdown, HTML, text, or ZIP archives of them.',
      }),
    }),
  ]),
);
export type ContentImportSource = Static<typeof ContentImportSource>;

/** Where it goes (resources section 29). */
export const ContentImportTarget = component(
  'ContentImportTarget',
  closed({
    space: Id(),
    changeRequest: optional(Id('Its id or number; without it, the primary content.')),
    page: optional(Id('The pages come below this one.')),
  }),
);
export type ContentImportTarget = Static<typeof ContentImportTarget>;

/** One import (resources section 0). */
export const ContentImportRun = component(
  'ContentImportRun',
  closed({
    object: optional(Type.Literal('import-run')),
    id: Id(),
    startedAt: optional(DateTime),
    completedAt: optional(DateTime),
    createdAt: optional(DateTime),
    updatedAt: optional(DateTime),
    status: words(importRunStatuses),
    reason: optional(
      Type.String({ description: 'Why it failed, or what of a completed one did not come along, page by page.' }),
    ),
    source: optional(
      Type.Union([
        closed({ type: Type.Literal('website'), url: UrlInput }),
        closed({ type: Type.Literal('file'), files: Type.Array(Type.String(), { maxItems: limits.importRun.files }) }),
      ]),
    ),
    target: optional(ContentImportTarget),
    site: optional(Id()),
    createdBy: optional(Id()),
    urls: optional(closed({ location: Uri })),
    pages: optional(
      Type.Array(
        closed({
          id: Id('Of the page that it becomes.'),
          sourceURL: optional(Type.String()),
          type: words(['page', 'folder']),
          status: words(['complete', 'pending']),
        }),
        { description: 'Only of single runs.' },
      ),
    ),
  }),
);
export type ContentImportRun = Static<typeof ContentImportRun>;

const common = { owner: 'content', surface: 'public', tag: 'Imports' } as const;
const inOrganization = closed({ organizationId: Id() });
const oneRun = closed({ organizationId: Id(), importRunId: Id() });

/** Import runs (gaps-filled section 10). */
export const importRunOperations = {
  listImportRuns: operation({
    ...common,
    id: 'listImportRuns',
    method: 'GET',
    path: '/org/{organizationId}/imports',
    summary: 'List import runs',
    description: 'Newest first; those of spaces that the caller may view.',
    access: 'organization:view',
    scope: 'space:read',
    params: inOrganization,
    query: closed({
      space: optional(Id()),
      changeRequest: optional(Id('Its id, or, with `space`, its number.')),
      site: optional(Id()),
      status: optional(words(['active', ...importRunStatuses], { description: '`active`: pending or in progress.' })),
      ...paging,
    }),
    success: { 200: listOf(ContentImportRun) },
  }),
  startImportRun: operation({
    ...common,
    id: 'startImportRun',
    method: 'POST',
    path: '/org/{organizationId}/imports',
    summary: 'Import a website or files',
    description: `Takes the right to edit the space, and without a change request the right to merge. Answers at once; at most ${limits.importRun.active} imports of an organization run at a time.`,
    access: 'organization:view',
    scope: 'space:write',
    params: inOrganization,
    body: closed({
      source: ContentImportSource,
      target: ContentImportTarget,
      site: optional(Id()),
      enhance: optional(
        Type.Boolean({
          default: true,
          description: 'Leave out what stands around the text of a page: navigation, header, footer.',
        }),
      ),
    }),
    success: { 201: ContentImportRun },
    location: true,
  }),
  getImportRun: operation({
    ...common,
    id: 'getImportRun',
    method: 'GET',
    path: '/org/{organizationId}/imports/{importRunId}',
    summary: 'Get an import run',
    access: 'organization:view',
    scope: 'space:read',
    params: oneRun,
    success: { 200: ContentImportRun },
  }),
  cancelImportRun: operation({
    ...common,
    id: 'cancelImportRun',
    method: 'POST',
    path: '/org/{organizationId}/imports/{importRunId}/cancel',
    summary: 'Cancel an import run',
    description: 'Takes the right to edit the space. Nothing of it comes into the content.',
    access: 'organization:view',
    params: oneRun,
    success: { 200: ContentImportRun },
  }),
};
