import type { collectionOperations, contentInternalOperations, contentPermissionOperations } from '@bindery/contracts';
import type { Membership, Reactor, ServicePorts, ServiceRuntime } from '@bindery/event-sourcing';
import type { HandlersFor, ServiceClient } from '@bindery/service-kit';
import { type Access, createAccess } from './features/access/index.ts';
import {
  collectionReactor,
  collectionsAggregate,
  collectionsProjection,
  createCollectionHandlers,
  createCollections,
  createPlacement,
} from './features/collections/index.ts';
import {
  createGrantReader,
  createIdentityConsumer,
  createInternalHandlers,
  createLevelsOfMembers,
  createPermissionHandlers,
  dropGrantsReactor,
  grantsAggregate,
  grantsProjection,
  type LevelsOfMembers,
} from './features/permissions/index.ts';
import {
  type Placement,
  type SpaceRepository,
  type SpaceRouteDeps,
  type SpacesCollection,
  spaceAggregate,
} from './features/spaces/index.ts';

/** Read models of collections and of what members were given. */
export const accessProjections = [collectionsProjection, grantsProjection] as const;

/** Operations on collections and permissions. */
export type AccessOperations = typeof collectionOperations &
  typeof contentPermissionOperations &
  typeof contentInternalOperations;

/** Who may do what in the content service: collections, grants, and the function that decides with both. */
export interface ContentAccess {
  readonly access: Access;
  readonly placement: Placement;
  /** Follows members and teams. */
  readonly consumer: Membership;
  /** Levels of others than the caller. */
  levelsOf(services: ServiceClient): LevelsOfMembers;
  handlers(deps: SpaceRouteDeps): HandlersFor<AccessOperations>;
  readonly reactorDeps: Parameters<typeof accessReactors>[0] extends () => infer D ? D : never;
}

/** What follows from the end of a collection or space. @param deps asked for when the first event comes */
export const accessReactors = (
  deps: () => ReturnType<Parameters<typeof collectionReactor>[0]> & ReturnType<Parameters<typeof dropGrantsReactor>[0]>,
): readonly Reactor[] => [
  collectionReactor(deps),
  dropGrantsReactor(deps, [spaceAggregate.name, collectionsAggregate.name]),
];

/** Wires collections and permissions. */
export const createContentAccess = (options: {
  readonly runtime: Pick<ServiceRuntime, 'live' | 'repository'>;
  readonly ports: Pick<ServicePorts, 'bus' | 'clock' | 'telemetry'>;
  readonly spaces: SpacesCollection;
  readonly spaceRepository: SpaceRepository;
}): ContentAccess => {
  const { runtime, ports, spaces, spaceRepository } = options;
  const collections = createCollections(runtime.live);
  const grants = createGrantReader(runtime.live);
  const collectionsRepository = runtime.repository(collectionsAggregate);
  const grantsRepository = runtime.repository(grantsAggregate);
  const access = createAccess({ spaces, grants, collections });
  const placement = createPlacement({ spaces, spaceRepository, collections });
  return {
    access,
    placement,
    consumer: createIdentityConsumer({ bus: ports.bus, logger: ports.telemetry.logger, grants, grantsRepository }),
    reactorDeps: { spaces, spaceRepository, collections, collectionsRepository, grantsRepository, clock: ports.clock },
    levelsOf: (services) => createLevelsOfMembers({ collections, grants, services }),
    handlers(spaceDeps) {
      const permissions = { ...spaceDeps, collections, grants, grantsRepository };
      return {
        ...createCollectionHandlers({ ...spaceDeps, collections, collectionsRepository }),
        ...createPermissionHandlers(permissions),
        ...createInternalHandlers(permissions),
      };
    },
  };
};
