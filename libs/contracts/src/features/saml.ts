import Type from 'typebox';
import { component, embedded } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, Uri, UrlInput, visibleLine, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';
import { MemberRole } from './members.ts';

const line = (max: number, description: string) =>
  Type.String({
    minLength: 1,
    maxLength: max,
    pattern: visibleLine(),
    description,
  });

const Label = line(limits.saml.label, 'What people choose it by.');
const EntityId = line(limits.saml.entityId, 'Name of the identity provider; the issuer of its assertions.');
const Certificate = Type.String({
  minLength: 1,
  maxLength: limits.saml.certificate,
  pattern: '^[\\t\\n\\r\\x20-\\x7E]+$',
  description:
    'What the provider signs with: an X.509 certificate as PEM or base64, or two of them one after the other while the ' +
    'provider changes from one to the other.',
});

/** A SAML identity provider of an organization (reference: SAML provider; resources section 23). */
export const OrganizationSAMLProvider = component(
  'OrganizationSAMLProvider',
  closed(
    {
      object: words(['saml-provider']),
      id: Id(),
      label: Type.String(),
      ssoURL: Type.String({ description: 'Where people sign in; empty until it is given.' }),
      entityID: Type.String({ description: 'Empty until it is given.' }),
      certificate: Type.String({ description: 'As PEM; empty until it is given.' }),
      defaultTeam: Type.Optional(embedded('team', 'OrganizationTeam')),
      defaultRole: nullable(MemberRole),
      createdAt: DateTime,
      status: words(['active', 'pending'], {
        description: '`active` as soon as entity id, certificate and sign-in address are known.',
      }),
      service: closed({
        acsURL: Uri,
        startURL: Uri,
        entityID: Type.String({ description: 'Our own name, and the address of our metadata.' }),
      }),
      urls: closed({ location: Uri }),
    },
    { description: 'An identity provider through which the people of an organization sign in.' },
  ),
);

const params = closed({ organizationId: Id('Id of the organization.'), samlProviderId: Id('Id of the provider.') });
const fields = {
  entityID: Type.Optional(EntityId),
  certificate: Type.Optional(Certificate),
  ssoURL: Type.Optional(UrlInput),
  defaultTeam: Type.Optional(Id('Team that new members join.')),
  defaultRole: Type.Optional(nullable(MemberRole)),
};
const inSaml = { owner: 'identity', surface: 'public', tag: 'SAML' } as const;

/** Providers of an organization. */
export const listSAMLProvidersInOrganizationById = operation({
  ...inSaml,
  id: 'listSAMLProvidersInOrganizationById',
  method: 'GET',
  path: '/orgs/{organizationId}/saml',
  summary: 'List the SAML providers of an organization',
  description: 'Oldest first.',
  access: 'organization:admin',
  params: closed({ organizationId: Id('Id of the organization.') }),
  query: closed({ ...paging }),
  success: { 200: listOf(OrganizationSAMLProvider) },
});

/** A new provider; it may be completed later. */
export const createOrganizationSAMLProvider = operation({
  ...inSaml,
  id: 'createOrganizationSAMLProvider',
  method: 'POST',
  path: '/orgs/{organizationId}/saml',
  summary: 'Add a SAML provider to an organization',
  description:
    'Only `label` is needed: the answer tells the addresses under `service` that the identity provider wants to know; ' +
    'the rest follows by an update.',
  access: 'organization:admin',
  params: closed({ organizationId: Id('Id of the organization.') }),
  body: closed({ label: Label, ...fields }),
  success: { 201: OrganizationSAMLProvider },
  location: true,
  etag: true,
});

/** One provider. */
export const getOrganizationSAMLProviderById = operation({
  ...inSaml,
  id: 'getOrganizationSAMLProviderById',
  method: 'GET',
  path: '/orgs/{organizationId}/saml/{samlProviderId}',
  summary: 'Get a SAML provider',
  access: 'organization:admin',
  params,
  success: { 200: OrganizationSAMLProvider },
  etag: true,
});

/** Changes what is given of a provider. */
export const updateOrganizationSAMLProvider = operation({
  ...inSaml,
  id: 'updateOrganizationSAMLProvider',
  method: 'PATCH',
  path: '/orgs/{organizationId}/saml/{samlProviderId}',
  summary: 'Change a SAML provider',
  description: 'Fields that are not given stay as they are.',
  access: 'organization:admin',
  params,
  body: closed({ label: Type.Optional(Label), ...fields }),
  bodyOptional: true,
  success: { 200: OrganizationSAMLProvider },
  etag: true,
});

/** Removes a provider. */
export const deleteOrganizationSAMLProvider = operation({
  ...inSaml,
  id: 'deleteOrganizationSAMLProvider',
  method: 'DELETE',
  path: '/orgs/{organizationId}/saml/{samlProviderId}',
  summary: 'Remove a SAML provider',
  description: 'Nobody signs in through it any more: 205. One that does not exist: 204.',
  access: 'organization:admin',
  params,
  success: { 204: null, 205: null },
});

/** Ways to sign in to an organization. */
export const listSSOProviderLoginsInOrganization = operation({
  ...inSaml,
  id: 'listSSOProviderLoginsInOrganization',
  method: 'GET',
  path: '/orgs/{organizationId}/sso',
  summary: 'List the ways to sign in to an organization',
  description:
    'Active providers with the address at which signing in starts. Members see it also while the organization wants them ' +
    'to sign in through one of these and shows them nothing else.',
  access: 'authenticated',
  params: closed({ organizationId: Id('Id of the organization.') }),
  success: { 200: closed({ items: Type.Array(closed({ id: Id(), label: Type.String(), startURL: Uri })) }) },
});

/** Operations on SAML providers. */
export const samlOperations = {
  listSAMLProvidersInOrganizationById,
  createOrganizationSAMLProvider,
  getOrganizationSAMLProviderById,
  updateOrganizationSAMLProvider,
  deleteOrganizationSAMLProvider,
  listSSOProviderLoginsInOrganization,
} as const;
