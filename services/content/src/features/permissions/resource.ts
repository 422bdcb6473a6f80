import type { OperationContext } from '@bindery/service-kit';
import type { Default } from '../access/index.ts';
import { type SpaceDocument, topLevel } from '../space-model/index.ts';
import type { PermissionRouteDeps } from './deps.ts';

/** A space or collection whose permissions are looked at or changed. */
export interface Resource {
  readonly kind: 'space' | 'collection';
  readonly id: string;
  readonly organizationId: string;
  /** Its own default and those of the collections around it, the nearest first. */
  readonly defaults: readonly [Default, ...Default[]];
  /** It and the collections around it: a grant on any of them counts. */
  readonly around: readonly string[];
  /** Whoever may enter the collection may read it. */
  readonly openToCollection: boolean;
}

/** How the caller names it. */
export type ResourceName = { readonly spaceId: string } | { readonly collectionId: string };

/**
 * The resource, for its administrators.
 * @throws Problem not-found, forbidden
 */
export const loadResource = async (
  { access, collections }: Pick<PermissionRouteDeps, 'access' | 'collections'>,
  context: OperationContext,
  name: ResourceName,
): Promise<Resource> => {
  if ('collectionId' in name) {
    const { collection, tree } = await access.collection(context, name.collectionId, 'admin');
    const { id, organizationId } = collection;
    const [own = null, ...rest] = tree.defaults(id);
    const around = tree.chain(id).map((it) => it.id);
    return { kind: 'collection', id, organizationId, defaults: [own, ...rest], around, openToCollection: false };
  }
  const { space } = await access.space(context, name.spaceId, 'admin');
  return resourceOfSpace({ collections }, space);
};

/** A space as a resource, whoever looks at it. */
export const resourceOfSpace = async (
  { collections }: Pick<PermissionRouteDeps, 'collections'>,
  space: SpaceDocument,
): Promise<Resource> => {
  const { id, organizationId, defaultLevel, place, visibility } = space;
  const tree = place === topLevel ? undefined : await collections.tree(organizationId);
  return {
    kind: 'space',
    id,
    organizationId,
    defaults: [defaultLevel, ...(tree?.defaults(place) ?? [])],
    around: [id, ...(tree?.chain(place) ?? []).map((it) => it.id)],
    openToCollection: visibility === 'in-collection' && place !== topLevel,
  };
};
