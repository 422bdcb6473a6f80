import type { changeRequestOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import { expectedRevision } from '../answer.ts';
import type { MergePolicy } from '../merge-policy.ts';
import type { Merging } from '../merging.ts';
import { type LocateDeps, locate } from './located.ts';

type Deps = LocateDeps & { readonly merging: Merging };

/** POST .../merge: into the space, when its merge rules are met. */
export const mergeChangeRequest =
  (deps: Deps & { readonly policy: MergePolicy }): HandlersFor<typeof changeRequestOperations>['mergeChangeRequest'] =>
  async (context, { params, ifMatch }) => {
    const { found, space } = await locate(deps, context, params, 'merge');
    const factsOf = deps.policy.factsFor(context, space);
    const body = await deps.merging.merge(context, params.spaceId, found.id, factsOf, expectedRevision(ifMatch));
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
