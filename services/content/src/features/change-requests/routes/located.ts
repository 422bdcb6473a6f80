import type { Stored } from '@bindery/read-store';
import { notFound, type OperationContext } from '@bindery/service-kit';
import type { SpaceAccess } from '../../access/index.ts';
import type { ChangeRequestRouteDeps } from '../deps.ts';
import type { ChangeRequestDocument } from '../read-model/document.ts';
import type { ChangeRequestLookup } from '../read-model/lookup.ts';

/** A change request that the caller may use as it needs to, and its space. */
export interface Located extends SpaceAccess {
  readonly found: Stored<ChangeRequestDocument>;
}

/** What routes need to find a change request. */
export type LocateDeps = Pick<ChangeRequestRouteDeps, 'access'> & { readonly lookup: ChangeRequestLookup };

/**
 * Finds a change request by its id or number.
 * @throws Problem not-found (the caller may not see the space, or there is none such), forbidden
 */
export const locate = async (
  { access, lookup }: LocateDeps,
  context: OperationContext,
  params: { readonly spaceId: string; readonly changeRequestId: string },
  need: 'view' | 'edit' | 'merge',
): Promise<Located> => {
  const [space, found] = await Promise.all([
    access.space(context, params.spaceId, need),
    lookup.find(params.spaceId, params.changeRequestId),
  ]);
  if (found === undefined) throw notFound('change request');
  return { ...space, found };
};
