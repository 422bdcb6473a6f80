import { assertNever, type Decider } from '@bindery/event-sourcing';
import { atLeast, conflict, type MemberRole, notFound } from '@bindery/service-kit';
import type { GrantEvent, RevocationReason } from './events.ts';
import { evolve, type Grant, type GrantsState, initialState, keyOf } from './state.ts';

export interface Subject {
  readonly kind: 'user' | 'team';
  readonly subjectId: string;
}

/** Gives subjects a level; null takes what they have. */
export interface SetGrants {
  readonly type: 'SetGrants';
  readonly data: {
    readonly resource: 'space' | 'collection';
    readonly resourceId: string;
    readonly organizationId: string;
    readonly subjects: readonly Subject[];
    readonly level: MemberRole | null;
    /** `existing`: refuses for who has none. `raise`: leaves alone who has as much. */
    readonly only?: 'existing' | 'raise';
    readonly by: string;
    readonly at: string;
  };
  /** How many subjects may have a level. */
  readonly most: number;
}

/** Takes what is left of grants that do not count any more. */
export interface DropGrants {
  readonly type: 'DropGrants';
  readonly data: {
    readonly resourceId: string;
    /** Only those of this organization. */
    readonly organizationId: string;
    /** Only those of this subject. */
    readonly subject?: Subject;
    /** Only those given before; later ones are another story. */
    readonly before: string;
    readonly reason: RevocationReason;
    readonly by: string;
    readonly at: string;
  };
}

export type GrantCommand = SetGrants | DropGrants;

const decide = (command: GrantCommand, state: GrantsState): readonly GrantEvent[] => {
  switch (command.type) {
    case 'SetGrants':
      return set(command, state);
    case 'DropGrants':
      return drop(command, state);
    default:
      return assertNever(command);
  }
};

const revoked = (
  grant: Grant,
  facts: {
    readonly resourceId: string;
    readonly reason: RevocationReason;
    readonly by: string;
    readonly at: string;
  },
): GrantEvent => ({
  type: 'AccessRevoked',
  data: {
    resource: grant.resource,
    resourceId: facts.resourceId,
    organizationId: grant.organizationId,
    kind: grant.kind,
    subjectId: grant.subjectId,
    previousLevel: grant.level,
    reason: facts.reason,
    revokedBy: facts.by,
    revokedAt: facts.at,
  },
});

const set = ({ data, most }: SetGrants, state: GrantsState): readonly GrantEvent[] => {
  const { resource, resourceId, organizationId, subjects, level, only, by, at } = data;
  // What another organization gave ended when the content left it.
  const foreign = [...state.grants.values()].filter((grant) => grant.organizationId !== organizationId);
  const events = foreign.map((grant) => revoked(grant, { resourceId, reason: 'transferred', by, at }));
  let size = state.grants.size - foreign.length;
  for (const { kind, subjectId } of subjects) {
    const found = state.grants.get(keyOf(kind, subjectId));
    const known = found?.organizationId === organizationId ? found : undefined;
    if (only === 'existing' && known === undefined) throw notFound('permission');
    if (level === null) {
      if (known !== undefined) events.push(revoked(known, { resourceId, reason: 'removed', by, at }));
      continue;
    }
    if (known?.level === level || (only === 'raise' && atLeast(known?.level, level))) continue;
    if (known === undefined) size += 1;
    const about = { resource, resourceId, organizationId, kind, subjectId };
    const previousLevel = known?.level ?? null;
    events.push({ type: 'AccessGranted', data: { ...about, level, previousLevel, grantedBy: by, grantedAt: at } });
  }
  if (size > most && events.length > 0 && size > state.grants.size)
    throw conflict('permissions.too_many', `At most ${most} members and teams can be given a level here.`);
  return events;
};

const drop = ({ data }: DropGrants, state: GrantsState): readonly GrantEvent[] => {
  const { resourceId, organizationId, subject, before, reason, by, at } = data;
  return [...state.grants.values()]
    .filter(
      (grant) =>
        grant.organizationId === organizationId &&
        grant.grantedAt <= before &&
        (subject === undefined || (grant.kind === subject.kind && grant.subjectId === subject.subjectId)),
    )
    .map((grant) => revoked(grant, { resourceId, reason, by, at }));
};

/** The rules of the grants on one space or collection. */
export const grantsDecider: Decider<GrantsState, GrantCommand, GrantEvent> = { initialState, decide, evolve };
