import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, Uri, UrlInput, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { ComputedContentSource } from './computed.ts';
import { GitSyncState } from './git.ts';
import { ContentImportRun } from './import-runs.ts';
import { ApplySpaceTemplate } from './templates.ts';

const optional = Type.Optional;

/** Languages of a space or translation (gaps-filled section 4). */
export const translationLanguages = [
  ...['en', 'fr', 'de', 'es', 'it', 'pt', 'pt-br', 'ru', 'ja', 'zh', 'zh-tw', 'yue', 'ko', 'ar', 'hi', 'nl', 'pl'],
  ...['tr', 'sv', 'no', 'da', 'fi', 'el', 'cs', 'hu', 'ro', 'th', 'vi', 'id', 'ms', 'he', 'uk', 'sk', 'bg', 'hr'],
  ...['lt', 'lv', 'et', 'sl'],
] as const;
/** Who sees the published content (reference: Space). */
export const contentVisibilities = [
  'public',
  'unlisted',
  'share-link',
  'visitor-auth',
  'in-collection',
  'private',
] as const;
const roles = ['admin', 'create', 'edit', 'review', 'comment', 'read'] as const;

const Title = Type.String({ maxLength: limits.space.title });
const Emoji = Type.String({ maxLength: limits.space.emoji, description: 'The character, or its code point.' });
const Language = words(translationLanguages);
const EditMode = words(['live', 'locked'], { description: '`locked`: nobody can edit or merge.' });

/** Default level of a space, collection or site (resources section 0). */
export const DefaultLevel = component(
  'DefaultLevel',
  Type.Unsafe<(typeof roles)[number] | 'inherit' | null>({
    anyOf: [{ type: 'string', enum: [...roles, 'inherit'] }, { type: 'null' }],
    description: 'What every member may do; `inherit` asks the parent, null = nothing.',
  }),
);

const users = Type.Array(Id(), { maxItems: 100, uniqueItems: true });
const MergeRule = component(
  'MergeRule',
  Type.Union([
    closed({
      rule: words(['require_specific_reviewers', 'require_one_of_specific_reviewers', 'allow_bypass']),
      users,
    }),
    closed({
      rule: words([
        'require_at_least_one_review',
        'require_at_least_one_approved_review',
        'require_all_reviews_approved',
        'require_agent_review',
        'require_up_to_date_change_request',
        'require_change_request_subject',
        'require_change_request_description',
        'require_author_to_merge',
      ]),
    }),
    closed({
      rule: Type.Literal('custom'),
      expression: Type.String({ maxLength: 1024 }),
      message: optional(Type.String({ maxLength: 1024 })),
    }),
  ]),
);
/** Rules of its own, or none (resources section 0). */
export const MergeRulesStandaloneConfiguration = component(
  'MergeRulesStandaloneConfiguration',
  Type.Union([
    closed({ type: Type.Literal('none') }),
    closed({ type: Type.Literal('rules'), rules: Type.Array(MergeRule, { maxItems: 50 }) }),
  ]),
);
/** As of an organization, or those of the parent (resources section 0). */
export const MergeRulesSpaceConfiguration = component(
  'MergeRulesSpaceConfiguration',
  Type.Union([
    closed({ type: Type.Literal('inherit') }),
    closed({ type: Type.Literal('none') }),
    closed({ type: Type.Literal('rules'), rules: Type.Array(MergeRule, { maxItems: 50 }) }),
  ]),
);

const permissionFlags = {
  view: Type.Boolean({ description: 'Read the content.' }),
  access: Type.Boolean({ description: 'Open it in the application.' }),
  admin: Type.Boolean({ description: 'Settings, deletion, integrations.' }),
  viewInviteLinks: Type.Boolean(),
  edit: Type.Boolean({ description: 'Open and edit change requests.' }),
  triggerGitSync: Type.Boolean(),
  comment: Type.Boolean(),
  merge: Type.Boolean(),
  review: Type.Boolean(),
  installIntegration: Type.Boolean(),
};

export type MergeRulesSpaceConfiguration = Static<typeof MergeRulesSpaceConfiguration>;

/** A space as clients see it (resources section 4). */
export const Space = component(
  'Space',
  closed({
    object: Type.Literal('space'),
    id: Id(),
    title: Title,
    emoji: Type.String({ maxLength: limits.space.emoji, description: 'Empty when none was set.' }),
    visibility: words(contentVisibilities),
    createdAt: DateTime,
    updatedAt: DateTime,
    deletedAt: optional(DateTime),
    editMode: optional(EditMode),
    mergeRules: MergeRulesSpaceConfiguration,
    urls: closed({ location: Uri, app: Uri, published: optional(Uri), public: optional(Uri), icon: optional(Uri) }),
    organization: Id(),
    parent: optional(Id()),
    language: optional(Language),
    revision: Id('The active revision of the primary content.'),
    defaultLevel: DefaultLevel,
    comments: Type.Number({ description: 'Open comments.' }),
    changeRequests: Type.Number({ description: 'All that were ever opened.' }),
    changeRequestsOpen: Type.Number(),
    changeRequestsDraft: Type.Number(),
    permissions: closed(permissionFlags),
    gitSync: optional(GitSyncState),
    imports: optional(
      Type.Array(ContentImportRun, {
        description: 'The newest imports into its primary content; only where one space is read.',
      }),
    ),
  }),
);
/** What a handler answers for a space. */
export type Space = Static<typeof Space>;

/** Path parameter `{spaceId}`. */
export const spaceParams = { spaceId: Id() };
const organizationParams = closed({ organizationId: Id() });

/** Operations on spaces themselves. */
export const spaceOperations = {
  createSpace: operation({
    id: 'createSpace',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/orgs/{organizationId}/spaces',
    tag: 'Spaces',
    summary: 'Create a space',
    description:
      'It starts with one empty page, with the pages of `template`, or, if `empty` is true, without any. With `computedSource` its pages are computed: they stand in its lists of pages as one entry.',
    access: 'organization:createContent',
    scope: 'space:write',
    params: organizationParams,
    body: closed({
      title: optional(Title),
      emoji: optional(Emoji),
      parent: optional(Id('The collection that it goes into.')),
      language: optional(Language),
      editMode: optional(EditMode),
      empty: optional(Type.Literal(true, { description: 'No page at all.' })),
      template: optional(ApplySpaceTemplate),
      computedSource: optional(ComputedContentSource),
    }),
    bodyOptional: true,
    success: { 201: Space },
    location: true,
    etag: true,
  }),
  listSpacesInOrganizationById: operation({
    id: 'listSpacesInOrganizationById',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/orgs/{organizationId}/spaces',
    tag: 'Spaces',
    summary: 'List the spaces of an organization',
    description: 'Those that the caller may view, the oldest first.',
    access: 'organization:view',
    scope: 'space:read',
    params: organizationParams,
    query: closed({ ...paging }),
    success: { 200: listOf(Space) },
  }),
  getSpaceById: operation({
    id: 'getSpaceById',
    owner: 'content',
    surface: 'public',
    method: 'GET',
    path: '/spaces/{spaceId}',
    tag: 'Spaces',
    summary: 'Get a space',
    description: 'A deleted space is shown to its administrators until it is purged.',
    access: 'space:view',
    scope: 'space:read',
    params: closed(spaceParams),
    query: closed({
      shareKey: optional(Type.String({ maxLength: 256, description: 'Key of a share link, for published URLs.' })),
    }),
    success: { 200: Space },
    etag: true,
  }),
  updateSpaceById: operation({
    id: 'updateSpaceById',
    owner: 'content',
    surface: 'public',
    method: 'PATCH',
    path: '/spaces/{spaceId}',
    tag: 'Spaces',
    summary: 'Change the settings of a space',
    description: 'Give `emoji` or `icon`, not both; null for both clears them.',
    access: 'space:admin',
    scope: 'space:write',
    params: closed(spaceParams),
    body: closed({
      editMode: optional(EditMode),
      title: optional(Title),
      defaultLevel: optional(DefaultLevel),
      language: optional(Language),
      mergeRules: optional(MergeRulesSpaceConfiguration),
      emoji: optional(nullable(Emoji)),
      icon: optional(nullable(UrlInput)),
    }),
    success: { 200: Space },
    errors: [409],
    etag: true,
  }),
  deleteSpaceById: operation({
    id: 'deleteSpaceById',
    owner: 'content',
    surface: 'public',
    method: 'DELETE',
    path: '/spaces/{spaceId}',
    tag: 'Spaces',
    summary: 'Delete a space',
    description: `It can be restored for ${limits.space.retentionDays} days. 205 = deleted, 204 = there was nothing to delete.`,
    access: 'space:admin',
    scope: 'space:write',
    params: closed(spaceParams),
    success: { 205: null, 204: null },
    ifMatch: true,
  }),
  restoreSpace: operation({
    id: 'restoreSpace',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/spaces/{spaceId}/restore',
    tag: 'Spaces',
    summary: 'Restore a deleted space',
    description: `Within ${limits.space.retentionDays} days. A space that is not deleted is answered as it is.`,
    access: 'space:admin',
    scope: 'space:write',
    params: closed(spaceParams),
    success: { 200: Space },
    errors: [409],
    etag: true,
  }),
  duplicateSpace: operation({
    id: 'duplicateSpace',
    owner: 'content',
    surface: 'public',
    method: 'POST',
    path: '/spaces/{spaceId}/duplicate',
    tag: 'Spaces',
    summary: 'Duplicate a space',
    description: 'Copies settings and primary content; change requests, comments and history stay behind.',
    deadlineMs: 120_000,
    access: 'space:view',
    scope: 'space:write',
    params: closed(spaceParams),
    success: { 201: Space },
    location: true,
    etag: true,
  }),
};
