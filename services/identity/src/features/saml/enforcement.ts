import type { Membership, SignedInBy } from '@bindery/service-kit';

type Memberships = Readonly<Record<string, Membership>>;

/**
 * The organizations that a caller reaches, of those that it is a member of (docs/adr/0012-single-sign-on.md).
 *
 * - Signed in through an organization's own identity provider: that organization alone. Whoever runs an identity provider can
 *   make it say anything; so what it says opens nothing that belongs to others.
 * - In any other way: all of them but those that enforce single sign-on; of these, only where the caller is an administrator
 *   (who must get in when the provider is broken) or a guest (who has no account there).
 */
export const reachable = (
  memberships: Memberships,
  signedInBy: SignedInBy | undefined,
  enforcing: ReadonlySet<string>,
): Memberships => {
  if (signedInBy?.method === 'saml') {
    const { organizationId } = signedInBy;
    const own = organizationId !== undefined && Object.hasOwn(memberships, organizationId) ? organizationId : undefined;
    const membership = own === undefined ? undefined : memberships[own];
    return own === undefined || membership === undefined ? {} : { [own]: membership };
  }
  return Object.fromEntries(
    Object.entries(memberships).filter(
      ([organizationId, { role }]) => !enforcing.has(organizationId) || role === 'admin' || role === null,
    ),
  );
};

/** Whether the rights that a user has beside its organizations (administering the instance) come with it. */
export const keepsOwnRights = (signedInBy: SignedInBy | undefined): boolean => signedInBy?.method !== 'saml';
