import type { changeRequestOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import { expectedRevision } from '../answer.ts';
import type { Merging } from '../merging.ts';
import { type LocateDeps, locate } from './located.ts';

type Deps = LocateDeps & { readonly merging: Merging };

/** POST .../merge: into the space. */
export const mergeChangeRequest =
  (deps: Deps): HandlersFor<typeof changeRequestOperations>['mergeChangeRequest'] =>
  async (context, { params, ifMatch }) => {
    const { found } = await locate(deps, context, params, 'merge');
    const body = await deps.merging.merge(context, params.spaceId, found.id, expectedRevision(ifMatch));
    return { status: 200, body };
  };

/** POST .../update: the primary content into the change request. */
export const updateChangeRequest =
  (deps: Deps): HandlersFor<typeof changeRequestOperations>['updateChangeRequest'] =>
  async (context, { params, ifMatch }) => {
    const { found } = await locate(deps, context, params, 'edit');
    const body = await deps.merging.update(context, params.spaceId, found.id, expectedRevision(ifMatch));
    return { status: 200, body };
  };
