import { limits, type samlOperations } from '@bindery/contracts';
import { commandMetadata, type Repository } from '@bindery/event-sourcing';
import {
  type CursorCodec,
  conflict,
  etagOf,
  forbidden,
  type HandlersFor,
  invalid,
  listIdentity,
  membershipIn,
  notFound,
  type OperationContext,
  type Principal,
  paginate,
  requireIfMatch,
} from '@bindery/service-kit';
import { addressesOf } from '../addresses.ts';
import { readCertificates } from '../certificates.ts';
import type { ProviderCommand } from '../decider.ts';
import type { ProviderEvent, ProviderSettings } from '../events.ts';
import { presentProvider } from '../presenter.ts';
import { activeProviders, type LiveProviders, type ProviderDocument } from '../read-model.ts';
import type { ProviderState } from '../state.ts';

export interface ProviderRouteDeps {
  readonly repository: Repository<ProviderState, ProviderCommand, ProviderEvent>;
  readonly providers: LiveProviders;
  readonly cursors: CursorCodec;
  /** Whether the organization has the team. */
  readonly teamExists: (organizationId: string, teamId: string) => Promise<boolean>;
  /** Whether the user belongs to the organization, however it signed in. */
  readonly isMember: (organizationId: string, userId: string) => Promise<boolean>;
  /** Whether the organization enforces single sign-on. */
  readonly enforcesSso: (organizationId: string) => Promise<boolean>;
  /** Hosts whose sign-in address may be http. */
  readonly plainHttpHosts: ReadonlySet<string>;
}

const orderBy = [{ field: 'createdAt', direction: 'asc' }] as const;

/** @throws Problem 404 for strangers, 403 for members who do not administer the organization */
const requireAdministrator = (principal: Principal, organizationId: string): void => {
  const membership = membershipIn(principal, organizationId);
  if (membership === undefined) throw notFound('organization');
  if (membership.role !== 'admin')
    throw forbidden('saml_provider.admin_only', 'Only administrators of the organization manage its SAML providers.');
};

/** @throws Problem 400 for an address that people must not be sent to */
export const readSsoUrl = (text: string, plainHttpHosts: ReadonlySet<string>): string => {
  const url = URL.parse(text);
  if (url === null) throw invalid('saml_provider.sso_url', 'body.ssoURL: must be an https address');
  const { protocol, hostname, username, password, hash } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && plainHttpHosts.has(hostname)))
    throw invalid('saml_provider.sso_url', 'body.ssoURL: must be an https address');
  if (username !== '' || password !== '' || hash !== '')
    throw invalid('saml_provider.sso_url', 'body.ssoURL: must have neither a user nor a fragment');
  if (url.searchParams.has('SAMLRequest') || url.searchParams.has('RelayState'))
    throw invalid('saml_provider.sso_url', 'body.ssoURL: must not carry SAMLRequest or RelayState');
  return url.href;
};

/** What the administrators of an organization do with its identity providers. */
export const createProviderHandlers = (deps: ProviderRouteDeps): HandlersFor<typeof samlOperations> => {
  const { repository, providers } = deps;

  const find = async (organizationId: string, id: string) => {
    const stored = await providers().get(id);
    if (stored === undefined || stored.document.organizationId !== organizationId) throw notFound('SAML provider');
    return stored;
  };

  const settingsFrom = async (
    context: OperationContext,
    organizationId: string,
    given: {
      readonly label?: string;
      readonly entityID?: string;
      readonly certificate?: string;
      readonly ssoURL?: string;
      readonly defaultTeam?: string;
      readonly defaultRole?: ProviderSettings['defaultRole'];
    },
  ): Promise<Partial<ProviderSettings>> => {
    const { label, entityID, certificate, ssoURL, defaultTeam, defaultRole } = given;
    if (defaultTeam !== undefined && !(await deps.teamExists(organizationId, defaultTeam)))
      throw invalid('saml_provider.team', 'body.defaultTeam: is no team of this organization');
    return {
      ...(label === undefined ? {} : { label }),
      ...(entityID === undefined ? {} : { entityID }),
      ...(certificate === undefined ? {} : { certificates: readCertificates(certificate, context.now) }),
      ...(ssoURL === undefined ? {} : { ssoURL: readSsoUrl(ssoURL, deps.plainHttpHosts) }),
      ...(defaultTeam === undefined ? {} : { defaultTeam }),
      ...(defaultRole === undefined ? {} : { defaultRole }),
    };
  };

  /** What is stored, or what was written when the read store failed after the append. */
  const shown = async (id: string, written: ProviderDocument, revision: number) => {
    const stored = await providers().get(id);
    return stored !== undefined && stored.revision >= revision ? stored : { document: written, revision };
  };

  return {
    async listSAMLProvidersInOrganizationById({ principal, baseUrl }, { params: { organizationId }, query }) {
      requireAdministrator(principal, organizationId);
      const list = listIdentity('listSAMLProvidersInOrganizationById', { organizationId });
      const where = { organizationId };
      const { items, ...rest } = await paginate<ProviderDocument>(
        providers(),
        list,
        { where, orderBy },
        query,
        deps.cursors,
      );
      return { status: 200, body: { ...rest, items: items.map(({ document }) => presentProvider(document, baseUrl)) } };
    },

    async createOrganizationSAMLProvider(context, { params: { organizationId }, body }) {
      requireAdministrator(context.principal, organizationId);
      const settings = await settingsFrom(context, organizationId, body);
      // Several administrators at once may go over the bound by a few; it only keeps the list of ways to sign in short.
      if ((await providers().count({ organizationId })) >= limits.saml.perOrganization)
        throw conflict(
          'saml_provider.limit',
          `An organization has at most ${limits.saml.perOrganization} SAML providers; remove one first.`,
        );
      const id = context.ids.id();
      const createdAt = context.now.toISOString();
      const complete = { certificates: [], defaultRole: null, ...settings, label: body.label };
      const data = { ...complete, providerId: id, organizationId, createdAt };
      const { revision } = await repository.handle(
        id,
        { type: 'CreateSamlProvider', data },
        commandMetadata(context, organizationId),
      );
      const stored = await shown(id, { ...complete, id, organizationId, createdAt }, revision);
      const answer = presentProvider(stored.document, context.baseUrl);
      return { status: 201, body: answer, etag: etagOf(stored.revision), location: answer.urls.location };
    },

    async getOrganizationSAMLProviderById({ principal, baseUrl }, { params: { organizationId, samlProviderId } }) {
      requireAdministrator(principal, organizationId);
      const { document, revision } = await find(organizationId, samlProviderId);
      return { status: 200, body: presentProvider(document, baseUrl), etag: etagOf(revision) };
    },

    async updateOrganizationSAMLProvider(context, { params: { organizationId, samlProviderId }, body, ifMatch }) {
      requireAdministrator(context.principal, organizationId);
      const before = await find(organizationId, samlProviderId);
      requireIfMatch(ifMatch === undefined ? {} : { ifMatch }, etagOf(before.revision));
      const changes = await settingsFrom(context, organizationId, body ?? {});
      const changedAt = context.now.toISOString();
      const { revision } = await repository.handle(
        samlProviderId,
        { type: 'ChangeSamlProvider', data: { providerId: samlProviderId, organizationId, changes, changedAt } },
        commandMetadata(context, organizationId),
        ifMatch === undefined || ifMatch === '*' ? {} : { expectedRevision: before.revision },
      );
      const stored = await shown(samlProviderId, { ...before.document, ...changes }, revision);
      return { status: 200, body: presentProvider(stored.document, context.baseUrl), etag: etagOf(stored.revision) };
    },

    async deleteOrganizationSAMLProvider(context, { params: { organizationId, samlProviderId } }) {
      requireAdministrator(context.principal, organizationId);
      if (await deps.enforcesSso(organizationId)) {
        const active = await activeProviders(providers, organizationId, limits.saml.perOrganization);
        if (active.length === 1 && active[0]?.id === samlProviderId)
          throw conflict(
            'saml_provider.enforced',
            'Members sign in through this provider alone; set sso of the organization to false first.',
          );
      }
      const deletedAt = context.now.toISOString();
      const { events } = await repository.handle(
        samlProviderId,
        { type: 'DeleteSamlProvider', data: { providerId: samlProviderId, organizationId, deletedAt } },
        commandMetadata(context, organizationId),
      );
      return { status: events.length > 0 ? 205 : 204 };
    },

    async listSSOProviderLoginsInOrganization({ principal, baseUrl }, { params: { organizationId } }) {
      if (membershipIn(principal, organizationId) === undefined && !(await deps.isMember(organizationId, principal.id)))
        throw notFound('organization');
      const active = await activeProviders(providers, organizationId, limits.saml.perOrganization);
      const items = active.map(({ id, label }) => ({ id, label, startURL: addressesOf(baseUrl, id).startURL }));
      return { status: 200, body: { items } };
    },
  };
};
