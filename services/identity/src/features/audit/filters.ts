import { type AuditQuery, limits } from '@bindery/contracts';
import { invalid } from '@bindery/service-kit';

/** What narrows a list of audit events. */
export interface AuditFilters {
  readonly from?: string;
  readonly to?: string;
  readonly action?: string;
  readonly actor?: string;
  readonly target?: string;
}

/** A time as the entries have it. @throws Problem 400 for one that no calendar has */
const instant = (name: string, text: string): string => {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw invalid('audit.time', `${name}: is not a time`);
  return new Date(time).toISOString();
};

/** The filters as the services take them. */
export const queryOf = ({ from, to, action, actor, target }: AuditFilters): Omit<AuditQuery, 'limit'> => ({
  ...(from === undefined ? {} : { from: instant('query.from', from) }),
  ...(to === undefined ? {} : { to: instant('query.to', to) }),
  ...(action === undefined ? {} : { action }),
  ...(actor === undefined ? {} : { actorId: actor }),
  ...(target === undefined ? {} : { targetId: target }),
});

/** Most events of one page of an export. */
export const exportPage = limits.audit.page;
