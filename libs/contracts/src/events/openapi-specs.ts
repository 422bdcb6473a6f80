import Type from 'typebox';
import { publicEvent } from '../kit/public-event.ts';
import { closed, DateTime, Id, words } from '../kit/schema.ts';

// Addresses and documents are private: consumers read them through the API, as somebody who may.

const ids = { organizationId: Id(), specId: Id(), slug: Type.String() };
const spec = { organizationId: 'o9Fj3sNc7PdHa1TgK6vW', specId: 'a4Rm2tUq8JhDf4YaZ7rK', slug: 'pet-store' };
const versionId = 'v1Xk1dHv4AuXj7CzN2qF';
const user = 'u4Qm2tXz8LkVw0RyB5nE';
const at = '2026-01-31T09:30:00.000Z';
const kind = words(['url', 'text']);

const openapiSpecCreated = publicEvent({
  type: 'bindery.content.openapi-spec.created.v1',
  owner: 'content',
  summary: 'An OpenAPI specification was created; it has no version yet.',
  data: closed({ ...ids, source: kind, createdBy: Id(), createdAt: DateTime }),
  samples: [{ ...spec, source: 'url', createdBy: user, createdAt: at }],
});

const openapiSpecSourceChanged = publicEvent({
  type: 'bindery.content.openapi-spec.source-changed.v1',
  owner: 'content',
  summary: 'An OpenAPI specification comes from elsewhere from now on.',
  data: closed({ ...ids, source: kind, changedBy: Id(), changedAt: DateTime }),
  samples: [{ ...spec, source: 'text', changedBy: user, changedAt: at }],
});

const openapiSpecVisibilityChanged = publicEvent({
  type: 'bindery.content.openapi-spec.settings-changed.v1',
  owner: 'content',
  summary: 'An OpenAPI specification is public, or no longer.',
  data: closed({ ...ids, visibility: words(['private', 'public']), changedBy: Id(), changedAt: DateTime }),
  samples: [{ ...spec, visibility: 'public', changedBy: user, changedAt: at }],
});

const openapiSpecVersionAdded = publicEvent({
  type: 'bindery.content.openapi-spec.changed.v1',
  owner: 'content',
  summary: 'The content of an OpenAPI specification changed: it has a new latest version.',
  data: closed({
    ...ids,
    versionId: Id(),
    specVersion: Type.String({ description: 'Of OpenAPI, as the document declares it.' }),
    createdAt: DateTime,
  }),
  samples: [{ ...spec, versionId, specVersion: '3.1.0', createdAt: at }],
});

const openapiSpecProcessingFailed = publicEvent({
  type: 'bindery.content.openapi-spec.processing-failed.v1',
  owner: 'content',
  summary: 'The document of an OpenAPI specification could not be fetched or read; its latest version stays.',
  data: closed({ ...ids, code: words(['FETCH_TIMEOUT', 'FETCH_ERROR', 'PARSE_ERROR']), processedAt: DateTime }),
  samples: [{ ...spec, code: 'FETCH_TIMEOUT', processedAt: at }],
});

const openapiSpecDeleted = publicEvent({
  type: 'bindery.content.openapi-spec.deleted.v1',
  owner: 'content',
  summary: 'An OpenAPI specification was deleted, with all its versions.',
  data: closed({ ...ids, deletedBy: Id(), deletedAt: DateTime }),
  samples: [{ ...spec, deletedBy: user, deletedAt: at }],
});

/** What others hear about OpenAPI specifications (DESIGN section 5). */
export const openapiSpecEvents = {
  openapiSpecCreated,
  openapiSpecSourceChanged,
  openapiSpecVisibilityChanged,
  openapiSpecVersionAdded,
  openapiSpecProcessingFailed,
  openapiSpecDeleted,
};
