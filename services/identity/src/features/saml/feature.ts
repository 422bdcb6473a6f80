import { limits, type samlOperations } from '@bindery/contracts';
import type { Repository, ServiceRuntime } from '@bindery/event-sourcing';
import { type CursorCodec, type HandlersFor, isProblem } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { LimitStore } from '../../shared/local-limits.ts';
import type { Vault } from '../../shared/vault.ts';
import { type LiveMembers, memberId } from '../members/index.ts';
import type { LiveOrganizations } from '../organizations/index.ts';
import type { Sessions } from '../sessions/index.ts';
import { type LiveTeams, type TeamCommand, type TeamEvent, type TeamState, teamsById } from '../teams/index.ts';
import { providerAggregate } from './decider.ts';
import { type AccountDeps, createAccounts } from './login/account.ts';
import { samlAssertionAggregate } from './login/assertion-use.ts';
import { recordBypasses } from './login/bypasses.ts';
import { samlLoginAggregate } from './login/login-aggregate.ts';
import { createSamlRoutes, type SamlRoute } from './login/raw-routes.ts';
import { createTickets } from './login/tickets.ts';
import { activeProviders, openProviders } from './read-model.ts';
import { createProviderHandlers } from './routes/providers.ts';

/** What operators decide about SAML. */
export interface SamlSettings {
  /** Hosts whose sign-in address may be http; none by default. */
  readonly plainHttpHosts?: readonly string[];
  /** Entity ids of identity providers that sign the assertion but cannot sign the response as well; none by default. */
  readonly unsignedResponsesFrom?: readonly string[];
}

export interface SamlFeatureDeps extends Omit<AccountDeps, 'joinTeam'> {
  readonly runtime: Pick<ServiceRuntime, 'repository' | 'live'>;
  readonly cache: LimitStore;
  readonly logger: Logger;
  readonly cursors: CursorCodec;
  readonly sessions: Pick<Sessions, 'begin' | 'end'>;
  readonly settings: SamlSettings;
  readonly teams: {
    readonly repository: Repository<TeamState, TeamCommand, TeamEvent>;
    readonly live: LiveTeams;
  };
  readonly members: LiveMembers;
  readonly settingsOf: LiveOrganizations;
  readonly vault: Vault;
}

/** SAML identity providers of organizations: the operations on them, and signing in through them. */
export const createSamlFeature = (
  deps: SamlFeatureDeps,
): {
  readonly handlers: HandlersFor<typeof samlOperations>;
  readonly rawRoutes: readonly SamlRoute[];
  /** The same sessions; those that administrators begin past an enforced single sign-on are recorded. */
  readonly recordingBypasses: <S extends Pick<Sessions, 'begin'>>(sessions: S) => S;
  /** Whether people can sign in to the organization through SAML. */
  readonly hasActiveProvider: (organizationId: string) => Promise<boolean>;
} => {
  const { runtime, settings, teams, vault } = deps;
  const teamExists = async (organizationId: string, teamId: string): Promise<boolean> =>
    (await teamsById(teams.live, [teamId])).get(teamId)?.document.organizationId === organizationId;
  const joinTeam: AccountDeps['joinTeam'] = async (organizationId, teamId, userId, metadata) => {
    const data = { organizationId, teamId, at: metadata.now.toISOString(), add: [{ userId }], remove: [] };
    try {
      await teams.repository.handle(teamId, { type: 'ChangeTeamMembers', data }, metadata);
    } catch (error) {
      // Deleted since it was named: signing in goes on without it.
      if (!isProblem(error) || error.kind !== 'not-found') throw error;
    }
  };
  const providers = () => openProviders(runtime.live);
  const logins = runtime.repository(samlLoginAggregate);
  const repository = runtime.repository(providerAggregate);
  return {
    handlers: createProviderHandlers({
      repository,
      providers,
      cursors: deps.cursors,
      teamExists,
      isMember: async (organizationId, userId) =>
        (await deps.members().get(memberId(organizationId, userId))) !== undefined,
      enforcesSso: async (organizationId) => (await deps.settingsOf().get(organizationId))?.document.sso === true,
      plainHttpHosts: new Set(settings.plainHttpHosts),
    }),
    recordingBypasses: (sessions) => recordBypasses({ ...deps, logins }, sessions),
    hasActiveProvider: async (organizationId) =>
      (await activeProviders(providers, organizationId, limits.saml.perOrganization)).length > 0,
    rawRoutes: createSamlRoutes({
      providers,
      logins,
      assertions: runtime.repository(samlAssertionAggregate),
      account: createAccounts({ ...deps, joinTeam }),
      sessions: deps.sessions,
      isThere: async (providerId) => (await repository.load(providerId)).state.status === 'present',
      tickets: createTickets(vault.secret('saml')),
      cache: deps.cache,
      logger: deps.logger,
      unsignedResponsesFrom: new Set(settings.unsignedResponsesFrom),
    }),
  };
};
