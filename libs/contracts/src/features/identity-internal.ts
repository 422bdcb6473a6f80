import Type, { type Static } from 'typebox';
import { operation } from '../kit/operation.ts';
import { closed, Id, nullable, words } from '../kit/schema.ts';
import { type OAuthScope, oauthScopes } from '../kit/scopes.ts';
import { MemberRole } from './members.ts';
import { User } from './users.ts';

/** A principal as it travels between services: `Principal` of the service kit, which depends on this package. */
interface PrincipalData {
  readonly kind: 'user' | 'service';
  readonly id: string;
  readonly tokenId: string;
  readonly origin?: string;
  readonly instanceAdmin: boolean;
  readonly organizations: Readonly<
    Record<string, { readonly role: Static<typeof MemberRole> | null; readonly teams: readonly string[] }>
  >;
  readonly scopes?: readonly OAuthScope[];
  readonly signedInBy?: { readonly method: string; readonly organizationId?: string };
}

/** A principal, as an answer of the internal operations that know who is asking. */
export const PrincipalSchema = Type.Unsafe<PrincipalData>(
  closed({
    kind: words(['user', 'service']),
    id: Id(),
    tokenId: Id(),
    origin: Type.Optional(Type.String({ description: 'Address of the caller, sealed under its key.' })),
    instanceAdmin: Type.Boolean(),
    organizations: Type.Record(Type.String(), closed({ role: nullable(MemberRole), teams: Type.Array(Id()) })),
    scopes: Type.Optional(Type.Array(words(oauthScopes), { maxItems: oauthScopes.length })),
    signedInBy: Type.Optional(closed({ method: Type.String(), organizationId: Type.Optional(Id()) })),
  }),
);

/**
 * How long an answer about a token may be used without asking again: while the shared cache has this value under this key,
 * and for half a minute at most. What changes the answer changes the value before the change is acknowledged.
 */
const Holds = closed({
  key: Type.String(),
  value: Type.String(),
  until: nullable(Type.Integer({ description: 'Milliseconds since 1970, when the token ends.' })),
});

/** Turns the hash of a bearer token into a principal, for every request. */
export const resolveToken = operation({
  id: 'resolveToken',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/resolve-token',
  tag: 'Internal',
  summary: 'Who does this token belong to?',
  access: 'service',
  body: closed({
    tokenHash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in lower-case hex.' }),
    address: Type.Optional(Type.String({ maxLength: 64, description: 'Where the request comes from.' })),
  }),
  success: { 200: closed({ principal: nullable(PrincipalSchema), holds: Type.Optional(Holds) }) },
});

/** Loads users to embed them; those that do not exist are left out. */
export const loadUsers = operation({
  id: 'loadUsers',
  reads: true,
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/load-users',
  tag: 'Internal',
  summary: 'Load users by id',
  access: 'service',
  body: closed({ ids: Type.Array(Id(), { maxItems: 1000 }) }),
  success: { 200: closed({ users: Type.Array(User) }) },
});

/** Operations that only our own services call. */
export const identityInternalOperations = { resolveToken, loadUsers } as const;
