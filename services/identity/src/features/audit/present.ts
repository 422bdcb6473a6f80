import type { AuditEntry, auditOperations } from '@bindery/contracts';
import type { OperationAnswer } from '@bindery/service-kit';
import type { PersonalDataSealer } from '../../shared/personal-data.ts';
import { type LiveUsers, usersById } from '../users/index.ts';

type Details = Extract<OperationAnswer<typeof auditOperations.getOrganizationAuditEvent>, { status: 200 }>['body'];
type Listed = Extract<OperationAnswer<typeof auditOperations.listOrganizationAuditEvents>, { status: 200 }>['body'];

export interface PresentDeps {
  readonly users: LiveUsers;
  readonly sealer: PersonalDataSealer;
}

/** What addresses are sealed for: they belong to a user and to no single event. */
export const originPurpose = 'origin';

/** Form of the ids of events, which entries have. */
export const eventId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Kinds of targets that are people. */
const people: ReadonlySet<string> = new Set(['user', 'member']);

const actorTypes = { user: 'user', token: 'user', integration: 'integration', service: 'system' } as const;

const listed = (entry: AuditEntry, names: ReadonlyMap<string, { readonly displayName: string }>, baseUrl: string) => {
  const { id, time, action, actorId, actorKind, targetId, targetType, organizationId } = entry;
  const label = actorId === 'anonymous' ? 'Anonymous' : names.get(actorId)?.displayName;
  const targetLabel = people.has(targetType) ? names.get(targetId)?.displayName : undefined;
  const path = organizationId === '' ? '/admin/v1/audit-events' : `/v1/orgs/${organizationId}/audit-events/${id}`;
  return {
    object: 'audit-event' as const,
    id,
    occurredAt: time,
    action,
    actor: { type: actorTypes[actorKind], id: actorId, ...(label === undefined ? {} : { label }) },
    source: actorKind === 'service' ? ('workflow' as const) : ('api' as const),
    target: { type: targetType, id: targetId, ...(targetLabel === undefined ? {} : { label: targetLabel }) },
    urls: { location: `${baseUrl}${path}` },
  };
};

const namesOf = ({ users }: PresentDeps, entries: readonly AuditEntry[]) =>
  usersById(users, [
    ...new Set(
      entries.flatMap(({ actorId, targetId, targetType }) => [actorId, ...(people.has(targetType) ? [targetId] : [])]),
    ),
  ]);

/** Entries as a list shows them; names are those of today, so that those of erased people are gone. */
export const presentEntries = async (
  deps: PresentDeps,
  entries: readonly AuditEntry[],
  baseUrl: string,
): Promise<Listed['items']> => {
  const names = await namesOf(deps, entries);
  return entries.map((entry) => listed(entry, names, baseUrl));
};

/** Entries with everything that is known. An address is shown for as long as the key of its person exists. */
export const presentDetails = async (
  deps: PresentDeps,
  entries: readonly AuditEntry[],
  baseUrl: string,
): Promise<readonly Details[]> => {
  const names = await namesOf(deps, entries);
  return Promise.all(
    entries.map(async (entry) => {
      const { actorId, tokenId, origin, before, after, details, correlationId, causationId, schemaVersion } = entry;
      const opened =
        origin === undefined
          ? undefined
          : await deps.sealer.open(actorId, originPurpose, { sealed: origin, marks: {} });
      const facts = { before, after, details, token: tokenId, address: opened?.address };
      const caused = causationId !== correlationId && eventId.test(causationId);
      return {
        ...listed(entry, names, baseUrl),
        correlationId,
        ...(caused ? { causedByEventId: causationId } : {}),
        schemaVersion,
        payload: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)),
      };
    }),
  );
};
