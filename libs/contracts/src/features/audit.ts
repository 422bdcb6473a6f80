import Type, { type Static } from 'typebox';
import { component } from '../kit/components.ts';
import { operation, type ServiceName } from '../kit/operation.ts';
import { closed, DateTime, Id, listOf, nullable, paging, Uri, words } from '../kit/schema.ts';
import { limits } from '../limits.ts';

const uuid = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const facts = Type.Record(Type.String(), Type.Unknown());

/** Who did something, as the log has it. */
export type AuditActor = { readonly kind: 'user' | 'token' | 'integration' | 'service'; readonly id: string };

/** A kind of audit event. */
export const AuditEventAction = component(
  'AuditEventAction',
  closed({
    object: words(['audit-event-action']),
    id: Type.String({ description: 'Stable name, for the filter `action`.' }),
    label: Type.String({ description: 'The same for people.' }),
  }),
);

const auditEventFields = {
  object: words(['audit-event']),
  id: Type.String({ format: 'uuid' }),
  occurredAt: DateTime,
  action: Type.String({ description: 'Stable name of what happened.' }),
  actor: closed(
    {
      type: words(['user', 'integration', 'installation', 'system', 'support']),
      id: Type.String(),
      label: Type.Optional(Type.String({ description: 'Present name of the person; neutral once it is erased.' })),
    },
    { description: 'Who did it.' },
  ),
  source: words(['ui', 'api', 'integration', 'webhook', 'workflow', 'script', 'support']),
  target: closed(
    { type: Type.String(), id: Type.String(), label: Type.Optional(Type.String()) },
    { description: 'What it happened to.' },
  ),
  urls: closed({ location: Uri }),
};

/** Something that happened in an organization. */
export const AuditEvent = component('AuditEvent', closed(auditEventFields));

/** The same with everything that is known about it. */
export const AuditEventDetails = component(
  'AuditEventDetails',
  closed({
    ...auditEventFields,
    executionId: Type.Optional(Type.String()),
    correlationId: Type.Optional(Type.String({ description: 'Shared by everything that one request caused.' })),
    causedByEventId: Type.Optional(Type.String({ format: 'uuid' })),
    schemaVersion: Type.Integer({ minimum: 1 }),
    payload: Type.Record(Type.String(), Type.Unknown(), {
      description:
        '`before` and `after` (values of the target that the event names), `details`, `token` (its id) and `address` of the caller.',
    }),
  }),
);

const OrganizationParams = closed({ organizationId: Id('Id of the organization.') });
const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));
const word = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 128, description }));

const filters = {
  from: instant('Only events at or after this time.'),
  to: instant('Only events at or before this time.'),
  action: word('Only this action.'),
  actor: word('Only by the actor with this id.'),
  target: word('Only those that happened to the resource with this id.'),
};
const auditPaging = {
  page: paging.page,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: limits.audit.page, default: 20, description: 'How many events at most.' }),
  ),
};

/** Audit events of an organization, newest first. */
export const listOrganizationAuditEvents = operation({
  id: 'listOrganizationAuditEvents',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/audit-events',
  tag: 'Audit',
  summary: 'List the audit events of an organization',
  description: 'Newest first, straight from the event logs of all services, refused attempts included.',
  access: 'organization:admin',
  params: OrganizationParams,
  query: closed({ ...auditPaging, ...filters }),
  success: { 200: listOf(AuditEvent) },
});

/** One audit event with its values. */
export const getOrganizationAuditEvent = operation({
  id: 'getOrganizationAuditEvent',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/audit-events/{auditEventId}',
  tag: 'Audit',
  summary: 'Get an audit event of an organization',
  access: 'organization:admin',
  params: closed({ organizationId: Id('Id of the organization.'), auditEventId: Id('Id of the audit event.') }),
  success: { 200: AuditEventDetails },
});

/** What can stand in the audit. */
export const listOrganizationAuditEventActions = operation({
  id: 'listOrganizationAuditEventActions',
  owner: 'identity',
  surface: 'public',
  method: 'GET',
  path: '/orgs/{organizationId}/audit-event-actions',
  tag: 'Audit',
  summary: 'List the actions of audit events',
  access: 'organization:admin',
  params: OrganizationParams,
  success: { 200: closed({ items: Type.Array(AuditEventAction) }) },
});

/** Makes an address at which the events can be downloaded. */
export const createOrganizationAuditExport = operation({
  id: 'createOrganizationAuditExport',
  owner: 'identity',
  surface: 'public',
  method: 'POST',
  path: '/orgs/{organizationId}/audit-exports',
  tag: 'Audit',
  summary: 'Export the audit events of an organization',
  description:
    'Answers an address that serves the events as JSON lines (NDJSON), newest first, with all details. It works for five minutes and for as long as the caller administers the organization.',
  access: 'organization:admin',
  secret: true,
  params: OrganizationParams,
  body: closed({ ...filters }),
  bodyOptional: true,
  success: { 201: closed({ object: words(['audit-export']), url: Uri, expiresAt: DateTime }) },
});

/** Audit events of the whole instance. */
export const listInstanceAuditEvents = operation({
  id: 'listInstanceAuditEvents',
  owner: 'identity',
  surface: 'admin',
  method: 'GET',
  path: '/audit-events',
  tag: 'Administration',
  summary: 'List the audit events of the instance',
  description: 'Those of all organizations, and those that belong to none: users, tokens, failed authentications.',
  access: 'instance-admin',
  query: closed({ ...auditPaging, ...filters, organization: word('Only those of this organization.') }),
  success: { 200: listOf(AuditEventDetails) },
});

/** Operations of the audit. */
export const auditOperations = {
  listOrganizationAuditEvents,
  getOrganizationAuditEvent,
  listOrganizationAuditEventActions,
  createOrganizationAuditExport,
  listInstanceAuditEvents,
} as const;

/** An entry as it travels between services. */
export const AuditEntry = closed({
  id: Type.String(),
  time: Type.String(),
  organizationId: Type.String({ description: 'Empty: it concerns the instance.' }),
  action: Type.String(),
  actorId: Type.String(),
  actorKind: words(['user', 'token', 'integration', 'service']),
  tokenId: Type.Optional(Type.String()),
  origin: Type.Optional(Type.String({ description: 'Address of the caller, sealed under its key.' })),
  targetId: Type.String(),
  targetType: Type.String(),
  correlationId: Type.String(),
  causationId: Type.String(),
  schemaVersion: Type.Integer(),
  before: Type.Optional(facts),
  after: Type.Optional(facts),
  details: Type.Optional(facts),
});
export type AuditEntry = Static<typeof AuditEntry>;

const AuditQuery = closed({
  id: Type.Optional(Type.String({ pattern: uuid, description: 'This one alone.' })),
  organizationId: Type.Optional(Type.String({ description: 'Empty: those of the instance. Absent: all.' })),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  action: Type.Optional(Type.String()),
  actorId: Type.Optional(Type.String()),
  targetId: Type.Optional(Type.String()),
  after: Type.Optional(closed({ time: Type.String(), id: Type.String() })),
  limit: Type.Integer({ minimum: 1, maximum: limits.audit.page + 1 }),
});
export type AuditQuery = Static<typeof AuditQuery>;

const entriesOf = <const Id extends string, const Owner extends ServiceName>(id: Id, owner: Owner) =>
  operation({
    id,
    owner,
    surface: 'internal',
    reads: true,
    method: 'POST',
    path: `/${owner}/audit-entries`,
    tag: 'Internal',
    summary: 'Entries of the audit that come from the log of this service, newest first',
    access: 'service',
    body: AuditQuery,
    success: { 200: closed({ entries: Type.Array(AuditEntry) }) },
  });

const actionsOf = <const Id extends string, const Owner extends ServiceName>(id: Id, owner: Owner) =>
  operation({
    id,
    owner,
    surface: 'internal',
    reads: true,
    method: 'POST',
    path: `/${owner}/audit-actions`,
    tag: 'Internal',
    summary: 'Actions that events of this service stand in the audit as',
    access: 'service',
    body: closed({}),
    success: { 200: closed({ actions: Type.Array(closed({ id: Type.String(), label: Type.String() })) }) },
  });

export const listIdentityAuditEntries = entriesOf('listIdentityAuditEntries', 'identity');
export const listContentAuditEntries = entriesOf('listContentAuditEntries', 'content');
export const listContentAuditActions = actionsOf('listContentAuditActions', 'content');

/** Refused attempts, added up by the gateway over a minute at most. */
export const reportDenials = operation({
  id: 'reportDenials',
  owner: 'identity',
  surface: 'internal',
  method: 'POST',
  path: '/identity/denials',
  tag: 'Internal',
  summary: 'Record refused attempts',
  access: 'service',
  body: closed({
    reportId: Id(),
    denials: Type.Array(
      closed({
        status: words(['401', '403']),
        code: Type.String({ maxLength: 128 }),
        operation: Type.String({ maxLength: 128 }),
        actorId: Type.String({ maxLength: 128 }),
        tokenId: nullable(Type.String({ maxLength: 128 })),
        origin: nullable(Type.String({ maxLength: 512 })),
        network: nullable(Type.String({ maxLength: 64, description: 'Where an unknown caller is, coarsely.' })),
        organizationId: nullable(Type.String({ maxLength: 64 })),
        targetType: Type.String({ maxLength: 64 }),
        targetId: Type.String({ maxLength: 128 }),
        count: Type.Integer({ minimum: 1 }),
        firstAt: Type.String(),
        lastAt: Type.String(),
      }),
      { maxItems: limits.audit.denialsPerMinute },
    ),
  }),
  success: { 204: null },
});

/** Internal operations of the audit that identity owns. */
export const identityAuditInternalOperations = { listIdentityAuditEntries, reportDenials } as const;
/** Internal operations of the audit that content owns. */
export const contentAuditInternalOperations = { listContentAuditEntries, listContentAuditActions } as const;
