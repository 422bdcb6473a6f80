import type { Repository } from '@bindery/event-sourcing';
import type { OrganizationCommand } from './decider.ts';
import type { OrganizationEvent } from './events.ts';
import type { OrganizationState } from './state.ts';

/** Organizations with their members, as commands change them. */
export type OrganizationRepository = Repository<OrganizationState, OrganizationCommand, OrganizationEvent>;
