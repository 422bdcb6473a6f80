import type { OAuthScope } from '@bindery/contracts';
import type { MemberRole } from './roles.ts';

/** A membership of the caller: the role (null = guest) and the teams it is in. */
export interface Membership {
  readonly role: MemberRole | null;
  readonly teams: readonly string[];
}

/** How a session began, or the session in which a token was made. */
export interface SignedInBy {
  readonly method: string;
  /** Of `saml`: the organization whose identity provider vouched for the user; nothing else is within reach. */
  readonly organizationId?: string;
}

/**
 * Who is asking. Plain JSON: it travels between processes. Made by the gateway from a token, on every request, so that
 * removing a member or a token takes effect on the next one.
 */
export interface Principal {
  /** `user`: a person's token. `service`: one of our own services, acting for nobody but the system. */
  readonly kind: 'user' | 'service';
  /** User id, or `service:<name>`. */
  readonly id: string;
  /** The token used; limits are counted per token. */
  readonly tokenId: string;
  /** Address that the request came from, sealed under the user's key: goes into the metadata of events as it is. */
  readonly origin?: string;
  /** May use /admin/v1. */
  readonly instanceAdmin: boolean;
  /** By organization id. */
  readonly organizations: Readonly<Record<string, Membership>>;
  /** Scopes that the token is limited to; absent: everything that the user may do. */
  readonly scopes?: readonly OAuthScope[];
  /** Absent: a token of old, or one that an administrator made. */
  readonly signedInBy?: SignedInBy;
}

/**
 * Whether the caller has shown that the account is its own, and not only that an organization says so: needed for
 * everything that gives access to the account beyond that organization (passwords, addresses, erasure).
 */
export const holdsAccount = ({ signedInBy }: Principal): boolean => signedInBy?.method !== 'saml';

/** The caller's membership of an organization, if any. */
export const membershipIn = (principal: Principal, organizationId: string): Membership | undefined =>
  Object.hasOwn(principal.organizations, organizationId) ? principal.organizations[organizationId] : undefined;

/** Who asks before anybody is known, or without having to be. */
export const anonymous: Principal = {
  kind: 'user',
  id: 'anonymous',
  tokenId: 'anonymous',
  instanceAdmin: false,
  organizations: {},
};

/** A principal for work that a service does by itself. */
export const servicePrincipal = (service: string): Principal => ({
  kind: 'service',
  id: `service:${service}`,
  tokenId: `service:${service}`,
  instanceAdmin: false,
  organizations: {},
});
