import { limits, type OpenAPISpecSource, type openapiSpecOperations } from '@bindery/contracts';
import { commandMetadata } from '@bindery/event-sourcing';
import {
  conflict,
  type HandlersFor,
  invalid,
  type OperationContext,
  Problem,
  preconditionFailed,
} from '@bindery/service-kit';
import { specKey } from '../aggregate.ts';
import type { PutOpenAPISpec } from '../decider.ts';
import type { SpecSource } from '../events.ts';
import { answerSpec, findSpec, type SpecRouteDeps } from './answer.ts';

type Handlers = HandlersFor<typeof openapiSpecOperations>;

const expecting = (ifMatch: string | undefined): { readonly expectedRevision?: number } => {
  if (ifMatch === undefined || ifMatch === '*') return {};
  if (!/^\d{1,15}$/.test(ifMatch)) throw preconditionFailed('If-Match: is not a tag of this OpenAPI specification.');
  return { expectedRevision: Number(ifMatch) };
};

/** What a caller gives; a text goes into the blob store. @throws Problem invalid, too-large */
const readSource = async ({ blobs }: SpecRouteDeps, source: OpenAPISpecSource): Promise<SpecSource> => {
  if ('url' in source) {
    const url = URL.canParse(source.url) ? new URL(source.url) : undefined;
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
      throw invalid('openapi_spec.invalid_url', 'source.url: only http and https addresses can be fetched.');
    if (url.username !== '' || url.password !== '')
      throw invalid('openapi_spec.invalid_url', 'source.url: a user name or password in it is not kept; leave it out.');
    if (url.href.length > limits.url.maxLength)
      throw invalid('openapi_spec.invalid_url', `source.url: more than ${limits.url.maxLength} characters.`);
    return { kind: 'url', url: url.href };
  }
  if (!source.text.isWellFormed())
    throw invalid('openapi_spec.invalid_text', 'source.text: has halves of characters (surrogates).');
  const bytes = Buffer.from(source.text);
  if (bytes.length > limits.openapi.bytes)
    throw new Problem('too-large', 'openapi_spec.too_large', `source.text: more than ${limits.openapi.bytes} bytes.`);
  return { kind: 'text', ...(await blobs.put(bytes, limits.openapi.bytes)) };
};

const put = async (
  deps: SpecRouteDeps,
  context: OperationContext,
  { organizationId, slug }: { readonly organizationId: string; readonly slug: string },
  given: OpenAPISpecSource,
  existing: PutOpenAPISpec['existing'],
  ifMatch?: string,
): Promise<boolean> => {
  deps.access.organization(context, organizationId, 'createOpenAPISpec');
  const key = specKey(organizationId, slug);
  const options = expecting(ifMatch);
  // Nearly exact is enough here: two that come at once may pass the limit together.
  const isThere = (await deps.specs.get(key)) !== undefined;
  if (!isThere && (await deps.specs.count({ organizationId })) >= limits.openapi.perOrganization)
    throw conflict(
      'openapi_spec.too_many',
      `An organization has at most ${limits.openapi.perOrganization} OpenAPI specifications.`,
    );
  const source = await readSource(deps, given);
  const data = {
    organizationId,
    slug,
    source,
    specId: context.ids.id(),
    by: context.principal.id,
    at: context.now.toISOString(),
  };
  const { events } = await deps.repository.handle(
    key,
    { type: 'PutOpenAPISpec', data, existing },
    commandMetadata(context, organizationId),
    options,
  );
  return events.some(({ type }) => type === 'OpenAPISpecCreated');
};

/** POST /orgs/{organizationId}/openapi */
export const createSpec =
  (deps: SpecRouteDeps): Handlers['createOpenAPISpec'] =>
  async (context, { params, body }) => {
    const { slug, source } = body;
    await put(deps, context, { ...params, slug }, source, 'refuse');
    const answer = await answerSpec(deps, context, { ...params, specSlug: slug });
    deps.wake();
    return { status: 201, ...answer };
  };

/** PUT /orgs/{organizationId}/openapi/{specSlug} */
export const putSpec =
  (deps: SpecRouteDeps): Handlers['createOrUpdateOpenAPISpecBySlug'] =>
  async (context, { params, body, ifMatch }) => {
    const place = { organizationId: params.organizationId, slug: params.specSlug };
    const created = await put(deps, context, place, body.source, 'update', ifMatch);
    const answer = await answerSpec(deps, context, params);
    deps.wake();
    return { status: created ? 201 : 200, ...answer };
  };

/** PATCH /orgs/{organizationId}/openapi/{specSlug} */
export const updateSpec =
  (deps: SpecRouteDeps): Handlers['updateOpenAPISpecBySlug'] =>
  async (context, { params, body, ifMatch }) => {
    await findSpec(deps, context, params);
    deps.access.organization(context, params.organizationId, 'createOpenAPISpec');
    const by = { changedBy: context.principal.id, changedAt: context.now.toISOString() };
    await deps.repository.handle(
      specKey(params.organizationId, params.specSlug),
      { type: 'ChangeOpenAPISpecVisibility', data: { visibility: body.visibility, ...by } },
      commandMetadata(context, params.organizationId),
      expecting(ifMatch),
    );
    return { status: 200, ...(await answerSpec(deps, context, params)) };
  };

/** DELETE /orgs/{organizationId}/openapi/{specSlug} */
export const deleteSpec =
  (deps: SpecRouteDeps): Handlers['deleteOpenAPISpecBySlug'] =>
  async (context, { params }) => {
    const { organizationId, specSlug } = params;
    deps.access.organization(context, organizationId, 'createOpenAPISpec');
    const { events } = await deps.repository.handle(
      specKey(organizationId, specSlug),
      { type: 'DeleteOpenAPISpec', data: { deletedBy: context.principal.id, deletedAt: context.now.toISOString() } },
      commandMetadata(context, organizationId),
    );
    return { status: events.length > 0 ? 205 : 204 };
  };
