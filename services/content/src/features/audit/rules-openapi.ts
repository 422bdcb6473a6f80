import type { AuditRules } from '@bindery/audit';
import type { OpenAPISpecEvent } from '../openapi/index.ts';

const spec = ({ specId }: { readonly specId: string }) => ({ target: { type: 'openapi-spec', id: specId } });

export const openapiRules: AuditRules<OpenAPISpecEvent> = {
  OpenAPISpecCreated: {
    action: 'openapi-spec.created',
    label: 'OpenAPI specification created',
    facts: (data) => ({
      ...spec(data),
      values: { visibility: 'private', source: data.source.kind === 'url' ? data.source.url : 'text' },
      details: { slug: data.slug },
    }),
  },
  OpenAPISpecSourceChanged: {
    action: 'openapi-spec.source-changed',
    label: 'Source of an OpenAPI specification changed',
    facts: (data) => ({
      ...spec(data),
      values: { source: data.source.kind === 'url' ? data.source.url : 'text' },
      details: { slug: data.slug },
    }),
  },
  OpenAPISpecRefreshRequested: { skip: 'Looking at the same source again changes nothing by itself.' },
  OpenAPISpecVisibilityChanged: {
    action: 'openapi-spec.visibility-changed',
    label: 'Visibility of an OpenAPI specification changed',
    facts: (data) => ({ ...spec(data), values: { visibility: data.visibility }, details: { slug: data.slug } }),
  },
  OpenAPISpecProcessingStarted: { skip: 'The service works on a source; what comes of it is seen in the versions.' },
  OpenAPISpecVersionAdded: {
    action: 'openapi-spec.version-added',
    label: 'New version of an OpenAPI specification',
    facts: (data) => ({
      ...spec(data),
      details: { slug: data.slug, version: data.versionId, number: data.number, sha256: data.raw.sha256 },
    }),
  },
  OpenAPISpecProcessed: { skip: 'A look at a source; a change of it has an entry.' },
  OpenAPISpecProcessingFailed: { skip: 'A look at a source; nothing changed.' },
  OpenAPISpecDeleted: {
    action: 'openapi-spec.deleted',
    label: 'OpenAPI specification deleted',
    facts: (data) => ({ ...spec(data), values: { deleted: true }, details: { slug: data.slug } }),
  },
};
