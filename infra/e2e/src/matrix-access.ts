import type { OperationDefinition } from '@bindery/contracts';

/** What an answer says about access. `allowed`: whatever it was, the caller was let through. */
export type Outcome = 'allowed' | '401' | '403' | '404' | 'denied';

/** Levels on a space, least first. */
export const levels = ['read', 'comment', 'edit', 'review', 'create', 'admin'] as const;
export type Level = (typeof levels)[number];

/** Who asks, described by what it was given; what follows from that is worked out below, not asked of the product. */
export interface Principal {
  readonly name: string;
  readonly token: string;
  readonly userId?: string;
  /** Undefined: does not belong to the organization. Null: guest. */
  readonly role?: Level | null;
  /** Direct grants and grants of its teams, the highest. */
  readonly grant?: Level;
  /** How it came by the grant. */
  readonly given?: 'direct' | 'team';
  readonly instanceAdmin?: boolean;
  /** The scopes of its token; undefined: not limited. */
  readonly scopes?: readonly string[];
  readonly ownsTeam?: boolean;
}

/** A space: open to members by their role, or closed to all who have no grant. */
export type Variant = 'open' | 'closed';

const atLeast = (have: Level | undefined, need: Level): boolean =>
  have !== undefined && levels.indexOf(have) >= levels.indexOf(need);

const max = (a: Level | undefined, b: Level | undefined): Level | undefined =>
  a && atLeast(a, b ?? 'read') ? a : (b ?? a);

/** Level of a principal on the space of the fixture (docs/api/access.md). */
const levelOf = ({ role, grant }: Principal, variant: Variant): Level | undefined => {
  if (role === 'admin') return 'admin';
  if (role === undefined) return undefined;
  return max(grant, role !== null && variant === 'open' ? role : undefined);
};

/** The level that each need of a space asks for. */
const neededLevel: Readonly<Record<string, Level>> = {
  view: 'read',
  comment: 'comment',
  edit: 'edit',
  review: 'review',
  merge: 'review',
  triggerGitSync: 'create',
  create: 'create',
  viewInviteLinks: 'admin',
  admin: 'admin',
};

const onSpace = (principal: Principal, need: string, variant: Variant): Outcome => {
  const level = levelOf(principal, variant);
  if (level === undefined) return '404';
  return atLeast(level, neededLevel[need] ?? 'admin') ? 'allowed' : '403';
};

const onOrganization = ({ role }: Principal, need: string): Outcome => {
  if (role === undefined) return '404';
  const held: Readonly<Record<string, boolean>> = {
    view: true,
    edit: atLeast(role ?? undefined, 'edit'),
    listMembers: role !== null,
    listTeams: role !== null,
    createContent: role === 'create' || role === 'admin',
    createOpenAPISpec: role === 'create' || role === 'admin',
    admin: role === 'admin',
  };
  return held[need] === true ? 'allowed' : '403';
};

const onTeam = (principal: Principal, need: string): Outcome => {
  const { role, ownsTeam } = principal;
  if (role === undefined || (role === null && !ownsTeam)) return '404';
  return need === 'view' || role === 'admin' || ownsTeam ? 'allowed' : '403';
};

/** Comments of the fixture are the administrator's: others change them only where they administer the space. */
const onComment = (principal: Principal, variant: Variant): Outcome => {
  const level = levelOf(principal, variant);
  if (level === undefined) return '404';
  return level === 'admin' ? 'allowed' : '403';
};

/** What the table of the contract says about a cell. */
export const expected = (operation: OperationDefinition, principal: Principal, variant: Variant): Outcome => {
  const { access, scope, surface } = operation;
  if (access === 'anonymous') return 'allowed';
  if (principal.token === '') return '401';
  const inScope = principal.scopes === undefined || (scope !== undefined && principal.scopes.includes(scope));
  if (surface === 'admin' && !principal.instanceAdmin) return '403';
  if (!inScope) return '403';
  if (access === 'instance-admin') return principal.instanceAdmin ? 'allowed' : '403';
  if (access === 'authenticated') return 'allowed';
  // The user of the fixture is somebody else.
  if (access === 'self') return operation.path.includes('{userId}') && !principal.instanceAdmin ? 'denied' : 'allowed';
  const [kind, need = ''] = access.split(':');
  switch (kind) {
    case 'organization':
      return onOrganization(principal, need);
    case 'team':
      return onTeam(principal, need);
    case 'space':
    case 'collection':
      return onSpace(principal, need, variant);
    case 'comment':
      return onComment(principal, variant);
    default:
      throw new Error(`${operation.id}: no rule for access ${access}`);
  }
};

/** Whether an answer is what was expected. */
export const agrees = (want: Outcome, status: number): boolean => {
  if (status >= 500) return false;
  if (want === 'denied') return status === 403 || status === 404;
  if (want === 'allowed') return ![401, 403, 404].includes(status);
  return String(status) === want;
};
