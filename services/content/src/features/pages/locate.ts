import type { RevisionPageComputed } from '@bindery/contracts';
import { notFound, type OperationContext } from '@bindery/service-kit';
import type { Access } from '../access/index.ts';
import type { RevisionInfo, RevisionReader, Tree } from '../revisions/index.ts';
import { computedPage, type LatestSpecOf } from './computed.ts';
import type { PageScope } from './present.ts';

/** Finds the head of a change request by its id or number. */
export interface ChangeRequestHeads {
  /** undefined when the space has no such change request. */
  head(spaceId: string, idOrNumber: string): Promise<string | undefined>;
}

/** The three ways to name a revision: the space's current one, an id, or a change request's current one. */
export type RevisionParams =
  | { readonly spaceId: string }
  | { readonly spaceId: string; readonly revisionId: string }
  | { readonly spaceId: string; readonly changeRequestId: string };

/** A revision that the caller may read. */
export interface LocatedRevision {
  readonly spaceId: string;
  readonly revisionId: string;
  /** The entry of the computed content of its space, as of now; undefined when it has none. */
  computed(): Promise<RevisionPageComputed | undefined>;
}

export interface LocateDeps {
  readonly access: Access;
  readonly reader: RevisionReader;
  readonly changeRequests: ChangeRequestHeads;
  readonly latestSpec: LatestSpecOf;
}

/** Finds revisions and what is in them for a caller, with the one check of who may see them. */
export interface Locate {
  /** @throws Problem not-found */
  revision(context: OperationContext, params: RevisionParams): Promise<LocatedRevision>;
  /** @throws Problem not-found */
  tree(context: OperationContext, params: RevisionParams): Promise<PageScope & LocatedRevision>;
  /** @throws Problem not-found */
  info(spaceId: string, revisionId: string): Promise<RevisionInfo>;
  readonly reader: RevisionReader;
}

export const createLocate = ({ access, reader, changeRequests, latestSpec }: LocateDeps): Locate => {
  const info = async (spaceId: string, revisionId: string): Promise<RevisionInfo> => {
    const found = await reader.info(spaceId, revisionId);
    if (found === undefined) throw notFound('revision');
    return found;
  };
  const revision: Locate['revision'] = async (context, params) => {
    const { spaceId } = params;
    const { space } = await access.space(context, spaceId, 'view');
    const computed = () => computedPage(latestSpec, space);
    if ('revisionId' in params) {
      await info(spaceId, params.revisionId);
      return { spaceId, revisionId: params.revisionId, computed };
    }
    if (!('changeRequestId' in params)) return { spaceId, revisionId: space.revision, computed };
    const head = await changeRequests.head(spaceId, params.changeRequestId);
    if (head === undefined) throw notFound('change request');
    return { spaceId, revisionId: head, computed };
  };
  return {
    reader,
    info,
    revision,
    async tree(context, params) {
      const located = await revision(context, params);
      const tree: Tree = await reader.tree(located.spaceId, located.revisionId);
      return { ...located, tree, baseUrl: context.baseUrl };
    },
  };
};
