import { atLeast, etagOf, membershipIn, notFound, type OperationContext } from '@bindery/service-kit';
import { specKey } from '../aggregate.ts';
import type { OpenAPIDeps } from '../deps.ts';
import type { SpecLinks } from '../links.ts';
import { presentSpec } from '../present.ts';
import type { SpecDocument, SpecsCollection, VersionDocument, VersionsCollection } from '../read-model.ts';

/** What the operations work with. */
export interface SpecRouteDeps extends Pick<OpenAPIDeps, 'access' | 'repository' | 'blobs' | 'cursors'> {
  readonly specs: SpecsCollection;
  readonly versions: VersionsCollection;
  readonly links: SpecLinks;
  /** Called when there is work to do. */
  readonly wake: () => void;
}

interface SpecParams {
  readonly organizationId: string;
  readonly specSlug: string;
}

/** Whether the caller may change specifications: as `createOpenAPISpec` of the organization. */
export const mayEdit = ({ principal }: OperationContext, organizationId: string): boolean =>
  principal.kind === 'service' || atLeast(membershipIn(principal, organizationId)?.role ?? null, 'create');

/** A specification of an organization that the caller belongs to. @throws Problem not-found */
export const findSpec = async (
  { access, specs }: Pick<SpecRouteDeps, 'access' | 'specs'>,
  context: OperationContext,
  { organizationId, specSlug }: SpecParams,
): Promise<{ readonly spec: SpecDocument; readonly revision: number }> => {
  access.organization(context, organizationId, 'view');
  const stored = await specs.get(specKey(organizationId, specSlug));
  if (stored === undefined) throw notFound('OpenAPI specification');
  return { spec: stored.document, revision: stored.revision };
};

/** Its answer as the caller sees it now. @throws Problem not-found */
export const answerSpec = async (deps: SpecRouteDeps, context: OperationContext, params: SpecParams) => {
  const { spec, revision } = await findSpec(deps, context, params);
  const body = presentSpec(context.baseUrl, deps.links, spec, mayEdit(context, params.organizationId));
  return { body, etag: etagOf(revision) };
};

/** A version of a specification; without an id, the latest. @throws Problem not-found */
export const findVersion = async (
  deps: SpecRouteDeps,
  context: OperationContext,
  params: SpecParams & { readonly versionId?: string },
): Promise<{ readonly spec: SpecDocument; readonly version: VersionDocument }> => {
  const { spec } = await findSpec(deps, context, params);
  const versionId = params.versionId ?? spec.lastVersion?.versionId;
  const version = versionId === undefined ? undefined : (await deps.versions.get(versionId))?.document;
  if (version === undefined || version.specId !== spec.id) throw notFound('version of the OpenAPI specification');
  return { spec, version };
};
