import { createHash } from 'node:crypto';
import type { ComputedContentSource, RevisionPageComputed } from '@bindery/contracts';
import type { SpaceDocument } from '../space-model/index.ts';

/** Finds a specification of an organization by its slug; undefined when there is none. */
export type LatestSpecOf = (
  organizationId: string,
  slug: string,
) => Promise<
  | {
      readonly id: string;
      readonly slug: string;
      readonly visibility: 'private' | 'public';
      readonly lastVersion?: { readonly id: string };
    }
  | undefined
>;

const titleOf = (type: string): string => {
  if (type === 'builtin:openapi') return 'API reference';
  return type === 'builtin:translation' ? 'Translation' : 'Content of an integration';
};

/**
 * The entry that stands for a space's computed pages, as of now. Specifications are looked up, and null where there is none;
 * what integrations and translations would provide stays unresolved: without `value` (resources: SpecDep).
 */
export const computedPage = async (
  latestSpec: LatestSpecOf,
  space: Pick<SpaceDocument, 'organizationId' | 'createdAt' | 'computed'>,
): Promise<RevisionPageComputed | undefined> => {
  if (space.computed === undefined) return undefined;
  // The contract's validator let it in.
  const source = JSON.parse(space.computed.source) as ComputedContentSource;
  const resolved = await Promise.all(
    Object.entries(source.dependencies ?? {}).map(async ([name, { ref }]) => {
      if (ref.kind !== 'openapi') return [name, { ref }] as const;
      const spec = await latestSpec(space.organizationId, ref.spec);
      if (spec === undefined) return [name, { ref, value: null }] as const;
      const { id, slug, visibility, lastVersion } = spec;
      const last = lastVersion === undefined ? {} : { lastVersion: lastVersion.id };
      return [name, { ref, value: { object: 'openapi-spec', id, slug, visibility, ...last } }] as const;
    }),
  );
  const dependencies = source.dependencies === undefined ? {} : { dependencies: Object.fromEntries(resolved) };
  return {
    type: 'computed',
    id: space.computed.pageId,
    title: titleOf(source.type),
    createdAt: space.createdAt,
    computed: { ...source, ...dependencies } as ComputedContentSource,
  };
};

/** Entity tag of what shows computed content: it changes while the revision stays. */
export const computedTag = (tag: string, computed: RevisionPageComputed | undefined): string =>
  computed === undefined
    ? tag
    : `${tag}-${createHash('sha256').update(JSON.stringify(computed)).digest('hex').slice(0, 12)}`;
