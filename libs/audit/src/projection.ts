import type { DomainEvent, Projection, ProjectionWrite, Recorded } from '@bindery/event-sourcing';
import { type AuditEntryDocument, type AuditValuesDocument, auditCollection, auditValuesCollection } from './entry.ts';
import { type AuditRuleSet, factsOf, ruleOf } from './rules.ts';

/** Name of the projection in the status of a service. */
export const auditProjectionName = 'audit';

/** Longest value that is kept, in characters of JSON; a longer one is told by its length. */
const maxValue = 2000;

/** Characters that one of a text has at most in JSON. */
const escaped = 6;

const bounded = (value: unknown): unknown => {
  // Most are short; what cannot be too long need not be measured.
  if (typeof value === 'string' && value.length * escaped + 2 <= maxValue) return value;
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= maxValue ? (value ?? null) : { omitted: text.length };
};

const boundedAll = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, bounded(value)]),
  );

const optional = <K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V });

/** Under which the values of a target are kept. */
const keyOf = ({ type, id }: { readonly type: string; readonly id: string }): string => `${type}.${id}`;

/**
 * One entry per event of the whole log of a service, but for those that the rules leave out by name. It is made of the
 * log and nothing else, so nothing can be missing: what is not in the log has not happened.
 */
export const auditProjection = (service: string, rules: AuditRuleSet): Projection => {
  const entries = auditCollection(service);
  const valuesOf = auditValuesCollection(service);
  return {
    name: auditProjectionName,
    mode: 'async',
    aggregates: 'all',
    handles: 'all',
    collections: [entries, valuesOf],
    reads: (event) => {
      const rule = ruleOf(rules, event);
      if ('skip' in rule) return [];
      const { target, values, begins } = factsOf(rule, event);
      return values === undefined || begins === true ? [] : [{ collection: valuesOf, id: keyOf(target) }];
    },
    apply: async (event: Recorded<DomainEvent>, reader) => {
      const rule = ruleOf(rules, event);
      if ('skip' in rule) return [];
      const { id, metadata, position: revision } = event;
      const { target, organizationId = '', actor, tokenId, origin, values, details, begins } = factsOf(rule, event);
      const after = values && boundedAll(values);
      const key = keyOf(target);
      const stored = after && begins !== true ? await reader.get<AuditValuesDocument>(valuesOf, key) : undefined;
      const known = after && (stored?.values ?? {});
      const document: AuditEntryDocument = {
        id,
        time: metadata.time,
        organizationId,
        action: rule.action,
        actorId: actor.id,
        actorKind: actor.kind,
        ...optional('tokenId', tokenId),
        ...optional('origin', origin),
        targetId: target.id,
        targetType: target.type,
        correlationId: metadata.correlationId,
        causationId: metadata.causationId,
        schemaVersion: metadata.schemaVersion,
        ...optional(
          'before',
          after && known && Object.fromEntries(Object.keys(after).map((name) => [name, known[name] ?? null])),
        ),
        ...optional('after', after),
        ...optional('details', details && boundedAll(details)),
      };
      const writes: ProjectionWrite[] = [{ collection: entries, write: { kind: 'put', id, revision, document } }];
      if (after !== undefined) {
        const now: AuditValuesDocument = { values: { ...known, ...after } };
        writes.push({ collection: valuesOf, write: { kind: 'put', id: key, revision, document: now } });
      }
      return writes;
    },
  };
};
