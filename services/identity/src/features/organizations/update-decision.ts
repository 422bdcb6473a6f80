import { isDeepStrictEqual } from 'node:util';
import { conflict, invalid, preconditionFailed } from '@bindery/service-kit';
import type { OrganizationChanges, OrganizationEvent } from './events.ts';
import { memberIn, type Roster } from './roster.ts';
import type { OrganizationState } from './state.ts';

type Active = Extract<OrganizationState, { status: 'active' }>;

/** Data of the command. */
export interface UpdateOrganization {
  readonly organizationId: string;
  readonly changes: Omit<OrganizationChanges, 'hostname'>;
  /** The name asked for; with the claim on it unless the organization is thought to have it already. */
  readonly hostname?: { readonly name: string; readonly claimId?: string };
  readonly updatedBy: string;
  readonly at: string;
  /** Version of the settings that the caller saw, `*` for any. */
  readonly ifMatch?: string;
}

/** Records what is different, and only that. */
export const updateOrganization = (data: UpdateOrganization, state: Active): readonly OrganizationEvent[] => {
  const { organizationId, updatedBy, at, ifMatch } = data;
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== String(state.version))
    throw preconditionFailed('The organization has changed since the version that If-Match names.');
  requireMembers(data.changes.mergeRules, state.roster);
  const present = new Map<string, unknown>(Object.entries(state.settings));
  const different = Object.entries(data.changes).filter(
    ([field, value]) => !isDeepStrictEqual(present.get(field), value),
  );
  const hostname = newHostname(data, state);
  const changes: OrganizationChanges = { ...Object.fromEntries(different), ...(hostname && { hostname }) };
  if (Object.keys(changes).length === 0) return [];
  const { hostname: before } = state.settings;
  const previousHostname = hostname && before ? { previousHostname: before } : {};
  const version = state.version + 1;
  return [
    {
      type: 'OrganizationUpdated',
      data: { organizationId, changes, ...previousHostname, updatedBy, updatedAt: at, version },
    },
  ];
};

const newHostname = ({ hostname }: UpdateOrganization, { settings }: Active): OrganizationChanges['hostname'] => {
  if (hostname === undefined || hostname.name === settings.hostname?.name) return undefined;
  // It had the name when the command was made, and has given it up since.
  if (hostname.claimId === undefined)
    throw conflict('organization.busy', 'body.hostname: another change came first; read the organization and repeat.');
  return { name: hostname.name, claimId: hostname.claimId };
};

/** @throws Problem 400 for people in rules who are no members */
const requireMembers = (mergeRules: OrganizationChanges['mergeRules'], roster: Roster): void => {
  if (mergeRules?.type !== 'rules') return;
  for (const [index, rule] of mergeRules.rules.entries()) {
    if (!('users' in rule)) continue;
    const place = rule.users.findIndex((userId) => memberIn(roster, userId) === undefined);
    if (place >= 0)
      throw invalid(
        'organization.merge_rule_user',
        `body.mergeRules.rules[${index}].users[${place}]: is not a member of the organization`,
      );
  }
};
