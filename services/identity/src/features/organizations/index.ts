export { type OrganizationCommand, organizationAggregate } from './decider.ts';
export type { OrganizationEvent } from './events.ts';
export { organizationPermissions } from './permissions.ts';
export { openOrganizations, organizationsProjection } from './read-model.ts';
export { createOrganizationRoute } from './routes/create-organization.ts';
export { getOrganizationRoute } from './routes/get-organization.ts';
export { listOrganizationsRoute } from './routes/list-organizations.ts';
export { type OrganizationState, organizationAggregateName } from './state.ts';
