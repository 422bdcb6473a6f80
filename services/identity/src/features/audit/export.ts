import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits, rawPrefix, rawRoutes } from '@bindery/contracts';
import { createIdSource, notFound, type OperationContext, servicePrincipal } from '@bindery/service-kit';
import { type AuditFilters, exportPage, queryOf } from './filters.ts';
import { type PresentDeps, presentDetails } from './present.ts';
import type { AuditSources } from './sources.ts';

/** A route outside the JSON contract, which the gateway mounts as it is. */
export interface RawRoute {
  readonly method: 'GET';
  /** With `{name}` parameters, as the gateway mounts it. */
  readonly path: string;
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    context: {
      readonly requestId: string;
      readonly params: Readonly<Record<string, string>>;
      readonly signal: AbortSignal;
      readonly now: Date;
    },
  ): Promise<void>;
}

/** What an address of an export stands for. */
interface Ticket {
  readonly organizationId: string;
  readonly userId: string;
  readonly filters: AuditFilters;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly baseUrl: string;
}

/** Exports of audit events: an address that works for a short time, and the route behind it. */
export interface AuditExports {
  create(
    context: OperationContext,
    organizationId: string,
    filters: AuditFilters,
  ): { readonly object: 'audit-export'; readonly url: string; readonly expiresAt: string };
  readonly route: RawRoute;
}

const validMs = 300_000;
/** A download that takes longer than this ends; it can be narrowed by time. */
const longestMs = 120_000;
const prefix = rawPrefix(rawRoutes.downloadAuditExport);

/**
 * @param deps.secret at least 16 characters; another one ends all addresses
 * @param deps.administers whether a user administers an organization at this moment
 */
export const createAuditExports = (
  deps: PresentDeps & {
    readonly sources: AuditSources;
    readonly secret: string;
    readonly administers: (organizationId: string, userId: string) => Promise<boolean>;
  },
): AuditExports => {
  const sign = (payload: string): Buffer =>
    createHmac('sha256', deps.secret).update(`audit-export ${payload}`).digest();
  const read = (text: string, now: Date): Ticket | undefined => {
    const [payload = '', mac = '', ...rest] = text.split('.');
    const given = Buffer.from(mac, 'base64url');
    const expected = sign(payload);
    if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const ticket = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Ticket;
    return ticket.until > now.getTime() ? ticket : undefined;
  };

  const serve: RawRoute['handle'] = async (_request, response, { requestId, params, signal, now }) => {
    const ticket = read(params.ticket ?? '', now);
    if (ticket === undefined || !(await deps.administers(ticket.organizationId, ticket.userId)))
      throw notFound('export');
    const context: OperationContext = {
      principal: servicePrincipal('identity'),
      requestId,
      now,
      ids: createIdSource(),
      signal: AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
      baseUrl: ticket.baseUrl,
    };
    const query = { ...queryOf(ticket.filters), organizationId: ticket.organizationId, limit: exportPage };
    let after: { readonly time: string; readonly id: string } | undefined;
    response.writeHead(200, {
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="audit-events.ndjson"',
      'cache-control': 'no-store',
    });
    for (let sent = 0; sent < limits.audit.exported; ) {
      context.signal.throwIfAborted();
      const entries = await deps.sources.entries(context, { ...query, ...(after === undefined ? {} : { after }) });
      const events = await presentDetails(deps, entries, ticket.baseUrl);
      const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
      if (lines !== '' && !response.write(lines)) await once(response, 'drain', { signal: context.signal });
      sent += events.length;
      after = entries.at(-1);
      if (after === undefined || entries.length < exportPage) break;
      after = { time: after.time, id: after.id };
    }
    response.end();
  };

  return {
    create({ principal, now, baseUrl }, organizationId, filters) {
      const until = now.getTime() + validMs;
      const ticket: Ticket = { organizationId, userId: principal.id, filters, until, baseUrl };
      const payload = Buffer.from(JSON.stringify(ticket)).toString('base64url');
      const url = `${baseUrl}${prefix}/${payload}.${sign(payload).toString('base64url')}`;
      return { object: 'audit-export', url, expiresAt: new Date(until).toISOString() };
    },
    route: { method: 'GET', path: rawRoutes.downloadAuditExport.path, handle: serve },
  };
};
