import type { openapiSpecOperations } from '@bindery/contracts';
import { type HandlersFor, listIdentity, type OperationContext, paginate } from '@bindery/service-kit';
import { presentContent, presentSpec, presentVersion } from '../present.ts';
import { readDocument } from '../read-document.ts';
import { answerSpec, findSpec, findVersion, mayEdit, type SpecRouteDeps } from './answer.ts';

type Handlers = HandlersFor<typeof openapiSpecOperations>;
type VersionParams = Parameters<typeof findVersion>[2];

/** GET /orgs/{organizationId}/openapi */
export const listSpecs =
  ({ access, specs, cursors, links }: SpecRouteDeps): Handlers['listOpenAPISpecs'] =>
  async (context, { params, query }) => {
    const { organizationId } = params;
    access.organization(context, organizationId, 'view');
    const { items, next, count } = await paginate(
      specs,
      listIdentity('listOpenAPISpecs', params),
      { where: { organizationId }, orderBy: [{ field: 'createdAt', direction: 'asc' }] },
      query,
      cursors,
    );
    const edit = mayEdit(context, organizationId);
    const shown = items.map(({ document }) => presentSpec(context.baseUrl, links, document, edit));
    return { status: 200, body: { ...(next ? { next } : {}), count, items: shown } };
  };

/** GET /orgs/{organizationId}/openapi/{specSlug} */
export const getSpec =
  (deps: SpecRouteDeps): Handlers['getOpenAPISpecBySlug'] =>
  async (context, { params }) => ({ status: 200, ...(await answerSpec(deps, context, params)) });

/** GET /orgs/{organizationId}/openapi/{specSlug}/versions */
export const listVersions =
  (deps: SpecRouteDeps): Handlers['listOpenAPISpecVersions'] =>
  async (context, { params, query }) => {
    const { spec } = await findSpec(deps, context, params);
    const { items, next, count } = await paginate(
      deps.versions,
      listIdentity('listOpenAPISpecVersions', { ...params, spec: spec.id }),
      { where: { specId: spec.id }, orderBy: [{ field: 'number', direction: 'desc' }] },
      query,
      deps.cursors,
    );
    const shown = items.map(({ document }) => presentVersion(context.baseUrl, deps.links, spec, document));
    return { status: 200, body: { ...(next ? { next } : {}), count, items: shown } };
  };

const version = async (deps: SpecRouteDeps, context: OperationContext, params: VersionParams) => {
  const found = await findVersion(deps, context, params);
  const body = presentVersion(context.baseUrl, deps.links, found.spec, found.version);
  return { status: 200 as const, body, etag: found.version.versionId };
};
const content = async (deps: SpecRouteDeps, context: OperationContext, params: VersionParams) => {
  const found = await findVersion(deps, context, params);
  const document = await readDocument(deps.blobs, found.version.json);
  const body = presentContent(context.baseUrl, deps.links, found.spec, found.version, document);
  // The address for the public comes and goes with the visibility.
  return { status: 200 as const, body, etag: `${found.version.versionId}-${found.spec.visibility}` };
};

/** GET .../versions/latest and .../versions/{versionId} */
export const getVersion =
  (deps: SpecRouteDeps): Handlers['getOpenAPISpecVersionById'] & Handlers['getLatestOpenAPISpecVersion'] =>
  (context, { params }) =>
    version(deps, context, params);

/** GET .../versions/latest/content and .../versions/{versionId}/content */
export const getContent =
  (
    deps: SpecRouteDeps,
  ): Handlers['getOpenAPISpecVersionContentById'] & Handlers['getLatestOpenAPISpecVersionContent'] =>
  (context, { params }) =>
    content(deps, context, params);
