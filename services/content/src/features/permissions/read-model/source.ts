import type { LiveCollection } from '@bindery/event-sourcing';
import type { Collection, Scalar } from '@bindery/read-store';
import { type MemberRole, maxRole, membershipIn } from '@bindery/service-kit';
import type { Caller, GrantSource } from '../../access/index.ts';
import {
  type GrantDocument,
  grantsSpec,
  type ResourceGrantsDocument,
  resourceGrantsSpec,
  subjectOf,
} from '../../space-model/index.ts';

export type GrantsCollection = Pick<Collection<GrantDocument>, 'get' | 'query' | 'count'>;

export interface GrantReader extends GrantSource {
  /** Grants of any of these subjects (`subjectOf`) in an organization. */
  of(organizationId: string, subjects: readonly string[]): AsyncGenerator<GrantDocument>;
  /** Levels by subject on each of these resources; those of other organizations do not count. */
  on(organizationId: string, resourceIds: readonly string[]): Promise<readonly ResourceGrantsDocument['levels'][]>;
  readonly documents: GrantsCollection;
}

const pageSize = 1000;
/** Values in one `in` (read store port). */
const maxValues = 1000;

const subjectsOf = ({ principal }: Caller, organizationId: string): readonly string[] => [
  subjectOf('user', principal.id),
  ...(membershipIn(principal, organizationId)?.teams ?? []).map((id) => subjectOf('team', id)),
];

/** Reads grants. */
export const createGrantReader = (live: LiveCollection): GrantReader => {
  const documents = live<GrantDocument>(grantsSpec);
  const byResource = live<ResourceGrantsDocument>(resourceGrantsSpec);

  async function* of(organizationId: string, subjects: readonly string[]): AsyncGenerator<GrantDocument> {
    for (let start = 0; start < subjects.length; start += maxValues) {
      const where = { organizationId, subject: { in: subjects.slice(start, start + maxValues) } };
      for (let after: readonly Scalar[] | undefined; ; ) {
        const found = await documents.query({ where, limit: pageSize, ...(after ? { after } : {}) });
        for (const { document } of found) yield document;
        const last = found.at(-1);
        if (last === undefined || found.length < pageSize) break;
        after = [last.id];
      }
    }
  }

  const on: GrantReader['on'] = async (organizationId, resourceIds) => {
    const [only] = resourceIds;
    const found =
      resourceIds.length === 1 && only !== undefined
        ? [await byResource.get(only)]
        : [...(await byResource.getMany(resourceIds)).values()];
    return found.flatMap((it) => (it?.document.organizationId === organizationId ? [it.document.levels] : []));
  };

  return {
    documents,
    of,
    on,
    async highest(context, organizationId, resourceIds) {
      const levels = await on(organizationId, resourceIds);
      if (levels.length === 0) return null;
      const subjects = subjectsOf(context, organizationId);
      let highest: MemberRole | null = null;
      for (const given of levels)
        for (const subject of subjects) if (Object.hasOwn(given, subject)) highest = maxRole(highest, given[subject]);
      return highest;
    },
    async all(context, organizationId) {
      const levels = new Map<string, MemberRole>();
      for await (const { resourceId, level } of of(organizationId, subjectsOf(context, organizationId)))
        levels.set(resourceId, maxRole(level, levels.get(resourceId)) ?? level);
      return levels;
    },
  };
};
