import { countSpacesOfTeams, type loadTeams } from '@bindery/contracts';
import { membershipIn, type OperationAnswer, type OperationContext, type ServiceClient } from '@bindery/service-kit';
import { teamPermissions } from './access.ts';
import { type LiveTeams, rolesInTeams } from './queries.ts';
import type { TeamDocument } from './read-model.ts';

type Team = Extract<OperationAnswer<typeof loadTeams>, { status: 200 }>['body']['teams'][number];

/** How many spaces each of these teams of an organization has a grant on; zero where absent. */
export type SpacesOfTeams = (
  context: OperationContext,
  organizationId: string,
  teamIds: readonly string[],
) => Promise<ReadonlyMap<string, number>>;

/** Asks the content service. */
export const spacesOfTeams =
  (services: ServiceClient): SpacesOfTeams =>
  async (context, organizationId, teamIds) => {
    const teams = [...teamIds];
    if (teams.length === 0) return new Map();
    const request = { params: {}, query: {}, body: { organizationId, teams } };
    const { body } = await services.call(countSpacesOfTeams, context, request);
    return new Map(teams.map((teamId, index) => [teamId, body.counts[index] ?? 0]));
  };

/** Teams as the API shows them to the caller, with what comes from elsewhere read once for all of them. */
export type PresentTeams = (context: OperationContext, documents: readonly TeamDocument[]) => Promise<readonly Team[]>;

export const createPresentTeams =
  (deps: { readonly live: LiveTeams; readonly spacesOfTeams: SpacesOfTeams }): PresentTeams =>
  async (context, documents) => {
    const { principal } = context;
    const byOrganization = Map.groupBy(documents, ({ organizationId }) => organizationId);
    const [roles, counts] = await Promise.all([
      rolesInTeams(
        deps.live,
        documents.map(({ id }) => id),
        principal.id,
      ),
      Promise.all(
        [...byOrganization].map(([organizationId, teams]) =>
          deps.spacesOfTeams(
            context,
            organizationId,
            teams.map(({ id }) => id),
          ),
        ),
      ),
    ]);
    const spaces = new Map(counts.flatMap((map) => [...map]));
    return documents.map(({ id, organizationId, title, members, createdAt }) => ({
      object: 'team',
      id,
      title,
      members,
      spaces: spaces.get(id) ?? 0,
      createdAt,
      permissions: teamPermissions(membershipIn(principal, organizationId), id, roles.get(id)),
    }));
  };
