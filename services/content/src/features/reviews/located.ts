import type { Stored } from '@bindery/read-store';
import { notFound, type OperationContext } from '@bindery/service-kit';
import type { SpaceAccess } from '../access/index.ts';
import type { ChangeRequestDocument } from '../change-requests/index.ts';
import type { ReviewDeps } from './deps.ts';

/** How paths name a change request. */
export interface ChangeRequestParams {
  readonly spaceId: string;
  /** Id or number. */
  readonly changeRequestId: string;
}

/** A change request that the caller may use as it needs to, and its space. */
export interface Located extends SpaceAccess {
  readonly found: Stored<ChangeRequestDocument>;
}

/** @throws Problem not-found, forbidden */
export const locate = async (
  { access, changeRequests }: Pick<ReviewDeps, 'access' | 'changeRequests'>,
  context: OperationContext,
  { spaceId, changeRequestId }: ChangeRequestParams,
  need: 'view' | 'review',
): Promise<Located> => {
  const [space, found] = await Promise.all([
    access.space(context, spaceId, need),
    changeRequests.find(spaceId, changeRequestId),
  ]);
  if (found === undefined) throw notFound('change request');
  return { ...space, found };
};
