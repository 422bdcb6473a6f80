import { ignoreUnknown } from '@bindery/event-sourcing';
import type { MemberRole } from '@bindery/service-kit';
import type { GrantEvent } from './events.ts';

export interface Grant {
  readonly resource: 'space' | 'collection';
  readonly organizationId: string;
  readonly kind: 'user' | 'team';
  readonly subjectId: string;
  readonly level: MemberRole;
  readonly grantedAt: string;
}

/** Grants on one space or collection, by `<kind>:<id>`. */
export interface GrantsState {
  readonly grants: ReadonlyMap<string, Grant>;
}

export const initialState = (): GrantsState => ({ grants: new Map() });

export const keyOf = (kind: 'user' | 'team', subjectId: string): string => `${kind}:${subjectId}`;

/** Folds one event into the state. Never throws. */
export const evolve = (state: GrantsState, event: GrantEvent): GrantsState => {
  switch (event.type) {
    case 'AccessGranted': {
      const { resource, organizationId, kind, subjectId, level, grantedAt } = event.data;
      const grant = { resource, organizationId, kind, subjectId, level, grantedAt };
      return { grants: new Map(state.grants).set(keyOf(kind, subjectId), grant) };
    }
    case 'AccessRevoked': {
      const grants = new Map(state.grants);
      grants.delete(keyOf(event.data.kind, event.data.subjectId));
      return { grants };
    }
    default:
      return ignoreUnknown(state, event);
  }
};
