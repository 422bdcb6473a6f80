import { listAccessSubjects } from '@bindery/contracts';
import type { MemberRole, OperationContext } from '@bindery/service-kit';
import type { SpaceDocument } from '../space-model/index.ts';
import type { PermissionRouteDeps } from './deps.ts';
import { levelOf } from './member-level.ts';
import { resourceOfSpace } from './resource.ts';

/**
 * The levels of users on a space as they are now; who is no member of its organization, or may not view it, is absent.
 * @param users at most 1000 are looked at, those after them are absent
 */
export type LevelsOfMembers = (
  context: OperationContext,
  space: SpaceDocument,
  users: readonly string[],
) => Promise<ReadonlyMap<string, MemberRole>>;

const most = 1000;

export const createLevelsOfMembers =
  (deps: Pick<PermissionRouteDeps, 'collections' | 'grants' | 'services'>): LevelsOfMembers =>
  async (context, space, users) => {
    if (users.length === 0) return new Map();
    const { organizationId } = space;
    const resource = await resourceOfSpace(deps, space);
    const body = { organizationId, users: users.slice(0, most), limit: most };
    const [levels, members] = await Promise.all([
      deps.grants.on(organizationId, resource.around),
      deps.services.call(listAccessSubjects, context, { params: {}, query: {}, body }),
    ]);
    const found = new Map<string, MemberRole>();
    for (const member of members.body.items) {
      const level = levelOf(resource, levels, member);
      if (level !== null) found.set(member.userId, level);
    }
    return found;
  };
