import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, Uri, UrlInput, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

const optional = Type.Optional;
const Slug = (description?: string) =>
  Type.String({
    minLength: 1,
    maxLength: limits.openapi.slug,
    pattern: '^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$',
    ...(description ? { description } : {}),
  });
const Visibility = words(['private', 'public'], {
  description: '`private`: for members of the organization. `public`: for anyone with the link.',
});

/** An OpenAPI specification of an organization (resources section 22). */
export const OpenAPISpec = component(
  'OpenAPISpec',
  closed({
    object: Type.Literal('openapi-spec'),
    id: Id(),
    createdAt: DateTime,
    updatedAt: DateTime,
    slug: Slug(),
    sourceURL: optional(Uri),
    processingState: words(['pending', 'progress', 'complete']),
    visibility: optional(Visibility),
    lastVersion: optional(Id('The latest version; it stays when a later document cannot be fetched or read.')),
    lastProcessedAt: optional(DateTime),
    lastProcessErrorCode: optional(words(['FETCH_TIMEOUT', 'FETCH_ERROR', 'PARSE_ERROR'])),
    lastProcessedErrors: optional(
      Type.Array(closed({ message: Type.String(), code: optional(Type.String()) }), {
        maxItems: limits.openapi.errors,
      }),
    ),
    lastProcessedErrorCount: Type.Integer({ minimum: 0 }),
    permissions: closed({ view: Type.Boolean(), edit: Type.Boolean() }),
    urls: closed({
      location: Uri,
      app: Uri,
      published: optional(Type.String({ format: 'uri', description: 'Of public ones: always the latest version.' })),
    }),
  }),
);
export type OpenAPISpec = Static<typeof OpenAPISpec>;

/** One content that a specification had (resources section 22). */
export const OpenAPISpecVersion = component(
  'OpenAPISpecVersion',
  closed({
    object: Type.Literal('openapi-spec-version'),
    id: Id(),
    createdAt: optional(DateTime),
    url: Type.String({
      format: 'uri',
      maxLength: limits.url.maxLength,
      description: 'The document as it was taken in; the address is signed and needs no token.',
    }),
    urls: closed({ location: Uri }),
  }),
);
export type OpenAPISpecVersion = Static<typeof OpenAPISpecVersion>;

/** The content of a version (resources section 22). */
export const OpenAPISpecContent = component(
  'OpenAPISpecContent',
  closed({
    filesystem: Type.Record(
      Type.String(),
      closed({
        isEntrypoint: Type.Boolean(),
        filename: Type.String(),
        dir: Type.String(),
        references: Type.Array(Type.String()),
        specification: Type.Object({}, { description: 'The document, read.' }),
      }),
      { description: 'By file name; specifications stand in one document here.' },
    ),
    url: Type.String({ format: 'uri', description: 'As `url` of the version.' }),
    urls: closed({
      source: Type.String({ format: 'uri', description: 'Where it was fetched from; else as `url`.' }),
      public: nullable(Type.String({ format: 'uri' })),
    }),
  }),
);
export type OpenAPISpecContent = Static<typeof OpenAPISpecContent>;

const Source = component(
  'OpenAPISpecSource',
  Type.Union([
    closed({ url: UrlInput }, { description: 'Fetched now, and again from time to time.' }),
    closed({ text: Type.String({ minLength: 1, maxLength: limits.body.large, description: 'JSON or YAML.' }) }),
  ]),
);
export type OpenAPISpecSource = Static<typeof Source>;

const common = { owner: 'content', surface: 'public', tag: 'OpenAPI specifications' } as const;
const reading = { ...common, method: 'GET', access: 'organization:view', scope: 'openapi:read' } as const;
const writing = { ...common, access: 'organization:createOpenAPISpec', scope: 'openapi:write' } as const;
const prefix = '/orgs/{organizationId}/openapi';
const inOrganization = { organizationId: Id() };
const inSpec = { ...inOrganization, specSlug: Slug() };
const inVersion = { ...inSpec, versionId: Id() };
const processed =
  'The document is fetched and read after the answer: `processingState` goes from `pending` through `progress` to `complete`.';

/** OpenAPI specifications and their versions (reference: OpenAPI specifications). */
export const openapiSpecOperations = {
  listOpenAPISpecs: operation({
    ...reading,
    id: 'listOpenAPISpecs',
    path: prefix,
    summary: 'List the OpenAPI specifications of an organization',
    description: 'Oldest first.',
    params: closed(inOrganization),
    query: closed(paging),
    success: { 200: listOf(OpenAPISpec) },
  }),
  createOpenAPISpec: operation({
    ...writing,
    id: 'createOpenAPISpec',
    method: 'POST',
    path: prefix,
    summary: 'Create an OpenAPI specification',
    description: `${processed} 409 when the slug is taken.`,
    params: closed(inOrganization),
    body: closed({ slug: Slug('Its name in addresses; it stays.'), source: Source }),
    bodyLimit: 'large',
    success: { 201: OpenAPISpec },
    errors: [409],
    etag: true,
  }),
  getOpenAPISpecBySlug: operation({
    ...reading,
    id: 'getOpenAPISpecBySlug',
    path: `${prefix}/{specSlug}`,
    summary: 'Get an OpenAPI specification',
    params: closed(inSpec),
    success: { 200: OpenAPISpec },
    etag: true,
  }),
  createOrUpdateOpenAPISpecBySlug: operation({
    ...writing,
    id: 'createOrUpdateOpenAPISpecBySlug',
    method: 'PUT',
    path: `${prefix}/{specSlug}`,
    summary: 'Create an OpenAPI specification, or give it another source',
    description: `${processed} With the same address as before, it is fetched again.`,
    params: closed(inSpec),
    body: closed({ source: Source }),
    bodyLimit: 'large',
    success: { 200: OpenAPISpec, 201: OpenAPISpec },
    errors: [409],
    etag: true,
  }),
  updateOpenAPISpecBySlug: operation({
    ...writing,
    id: 'updateOpenAPISpecBySlug',
    method: 'PATCH',
    path: `${prefix}/{specSlug}`,
    summary: 'Change who may see an OpenAPI specification',
    params: closed(inSpec),
    body: closed({ visibility: Visibility }),
    success: { 200: OpenAPISpec },
    etag: true,
  }),
  deleteOpenAPISpecBySlug: operation({
    ...writing,
    id: 'deleteOpenAPISpecBySlug',
    method: 'DELETE',
    path: `${prefix}/{specSlug}`,
    summary: 'Delete an OpenAPI specification and its versions',
    description: '205 when it was deleted, 204 when there was none.',
    params: closed(inSpec),
    success: { 204: null, 205: null },
  }),
  listOpenAPISpecVersions: operation({
    ...reading,
    id: 'listOpenAPISpecVersions',
    path: `${prefix}/{specSlug}/versions`,
    summary: 'List the versions of an OpenAPI specification',
    description: `Latest first; the latest ${limits.openapi.versions} are kept.`,
    params: closed(inSpec),
    query: closed(paging),
    success: { 200: listOf(OpenAPISpecVersion) },
  }),
  getLatestOpenAPISpecVersion: operation({
    ...reading,
    id: 'getLatestOpenAPISpecVersion',
    path: `${prefix}/{specSlug}/versions/latest`,
    summary: 'Get the latest version of an OpenAPI specification',
    params: closed(inSpec),
    success: { 200: OpenAPISpecVersion },
    etag: true,
  }),
  getLatestOpenAPISpecVersionContent: operation({
    ...reading,
    id: 'getLatestOpenAPISpecVersionContent',
    path: `${prefix}/{specSlug}/versions/latest/content`,
    summary: 'Get the content of the latest version of an OpenAPI specification',
    params: closed(inSpec),
    success: { 200: OpenAPISpecContent },
    etag: true,
  }),
  getOpenAPISpecVersionById: operation({
    ...reading,
    id: 'getOpenAPISpecVersionById',
    path: `${prefix}/{specSlug}/versions/{versionId}`,
    summary: 'Get a version of an OpenAPI specification',
    params: closed(inVersion),
    success: { 200: OpenAPISpecVersion },
    etag: true,
  }),
  getOpenAPISpecVersionContentById: operation({
    ...reading,
    id: 'getOpenAPISpecVersionContentById',
    path: `${prefix}/{specSlug}/versions/{versionId}/content`,
    summary: 'Get the content of a version of an OpenAPI specification',
    params: closed(inVersion),
    success: { 200: OpenAPISpecContent },
    etag: true,
  }),
};
