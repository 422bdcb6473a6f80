import type { changeRequestOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { Merging } from '../merging.ts';
import { type LocateDeps, locate } from './located.ts';

type Deps = LocateDeps & { readonly merging: Merging };

/** POST .../merge: into the space. */
export const mergeChangeRequest =
  (deps: Deps): HandlersFor<typeof changeRequestOperations>['mergeChangeRequest'] =>
  async (context, { params }) => {
    const { found } = await locate(deps, context, params, 'merge');
    return { status: 200, body: await deps.merging.merge(context, params.spaceId, found.id) };
  };

/** POST .../update: the primary content into the change request. */
export const updateChangeRequest =
  (deps: Deps): HandlersFor<typeof changeRequestOperations>['updateChangeRequest'] =>
  async (context, { params }) => {
    const { found } = await locate(deps, context, params, 'edit');
    return { status: 200, body: await deps.merging.update(context, params.spaceId, found.id) };
  };
