import Type from 'typebox';
import { component } from '../kit/components.ts';
import { operation } from '../kit/operation.ts';
import { closed, Id, words } from '../kit/schema.ts';
import { OrganizationHostname } from './organizations.ts';

/** A name that an organization holds (resources section 23). */
export const Subdomain = component(
  'Subdomain',
  closed(
    {
      object: words(['subdomain']),
      subdomain: Type.String(),
      target: closed({ type: words(['organization']), organization: Id() }),
      isActive: Type.Boolean({ description: 'It is the present `hostname` of the organization.' }),
    },
    { description: 'A name under which public content of an organization is found.' },
  ),
);

/** Who holds a subdomain. */
export const getSubdomain = operation({
  id: 'getSubdomain',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/subdomains/{subdomain}',
  tag: 'Organizations',
  summary: 'Get a subdomain',
  description: 'For members of the organization that holds it and for instance administrators; 404 for others.',
  access: 'authenticated',
  params: closed({ subdomain: OrganizationHostname }),
  success: { 200: Subdomain },
});

/** Operations on subdomains. */
export const subdomainOperations = { getSubdomain } as const;
