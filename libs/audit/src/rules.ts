import type { AuditActor } from '@bindery/contracts';
import { aggregateIdOf, type DomainEvent, type Recorded } from '@bindery/event-sourcing';

/** What an event says to those who audit. */
export interface AuditFacts {
  /** What it happened to. Default: the aggregate of the stream. */
  readonly target?: { readonly type: string; readonly id: string };
  /** Default: `organizationId` of the data, else of the metadata; none: it concerns the instance. */
  readonly organizationId?: string;
  /** The target begins with this event; default: when it is the first one of the target's own stream. */
  readonly begins?: boolean;
  /** Values that the target has from now on, allow-listed; those that it had before are found by folding. Null clears. */
  readonly values?: Readonly<Record<string, unknown>>;
  /** Facts of the event that are no values of the target. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Who did it, where it is not who wrote the event. */
  readonly actor?: AuditActor;
  readonly tokenId?: string | undefined;
  readonly origin?: string | undefined;
}

/** How one type of event stands in the audit. */
export type AuditRule<E extends DomainEvent> =
  | {
      /** Stable name: `space.created`. */
      readonly action: string;
      /** The same for people. */
      readonly label: string;
      readonly facts?: (data: E['data'], event: Recorded<E>) => AuditFacts;
    }
  /** Deliberately no entry, and why. */
  | { readonly skip: string };

/** The rules for a union of events, complete by type: a new type of event without one does not compile. */
export type AuditRules<E extends DomainEvent> = {
  readonly [K in E['type']]: AuditRule<Extract<E, { readonly type: K }>>;
};

/** Rules of several unions, by type of event, as the projection reads them. */
export type AuditRuleSet = Readonly<Record<string, AuditRule<DomainEvent>>>;

/**
 * Rules of a service, with their types forgotten: the projection finds the rule by the type of the event.
 * @throws TypeError when two unions have an event of the same type
 */
export const auditRules = (...tables: readonly object[]): AuditRuleSet => {
  const rules: Record<string, AuditRule<DomainEvent>> = {};
  for (const table of tables)
    for (const [type, rule] of Object.entries(table) as [string, AuditRule<DomainEvent>][]) {
      if (Object.hasOwn(rules, type)) throw new TypeError(`two rules for events of type ${type}`);
      rules[type] = rule;
    }
  return rules;
};

/** `ChangeRequestMerged` -> `change-request-merged`. */
const kebab = (name: string): string => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();

/** What the stream of an event is about: `content.changeRequest-x1` -> `change-request`, `x1`. */
const targetOf = (stream: string): { readonly type: string; readonly id: string } => ({
  type: kebab(stream.slice(stream.indexOf('.') + 1, stream.indexOf('-'))),
  id: aggregateIdOf(stream),
});

/**
 * The rule of an event. One that has none, because a newer version of the service wrote it, is audited under a name made
 * of its type and without values, so that nothing that happened is missing.
 */
export const ruleOf = (rules: AuditRuleSet, event: Recorded<DomainEvent>): AuditRule<DomainEvent> =>
  (Object.hasOwn(rules, event.type) ? rules[event.type] : undefined) ?? {
    action: `unlisted.${kebab(event.type)}`,
    label: event.type,
  };

/** Facts of an event, with what follows from its stream and its metadata filled in. */
export const factsOf = (
  rule: Exclude<AuditRule<DomainEvent>, { readonly skip: string }>,
  event: Recorded<DomainEvent>,
): AuditFacts & { readonly target: { readonly type: string; readonly id: string }; readonly actor: AuditActor } => {
  const { metadata, data } = event;
  const facts = rule.facts?.(data, event);
  const organizationId = Object(data).organizationId ?? metadata.organizationId;
  return {
    target: targetOf(event.stream),
    actor: metadata.actor,
    tokenId: metadata.tokenId,
    origin: metadata.origin,
    ...(typeof organizationId === 'string' ? { organizationId } : {}),
    begins: event.revision === 0 && facts?.target === undefined,
    ...facts,
  };
};

/** Actions that the events of a service stand in the audit as. */
export const auditActions = (rules: AuditRuleSet): readonly { readonly id: string; readonly label: string }[] => [
  ...new Map(
    Object.values(rules).flatMap((rule) =>
      'skip' in rule ? [] : [[rule.action, { id: rule.action, label: rule.label }]],
    ),
  ).values(),
];
