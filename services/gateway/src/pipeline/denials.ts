import { isIPv4, isIPv6 } from 'node:net';
import { type BodyOf, limits, type OperationDefinition, reportDenials } from '@bindery/contracts';
import { createIdSource, type Principal, type Problem, servicePrincipal } from '@bindery/service-kit';
import type { Logger } from '@bindery/telemetry';
import type { CallOperation } from './embeds.ts';

type Denial = BodyOf<typeof reportDenials>['denials'][number];

/** A refused attempt. */
export interface DeniedAttempt {
  readonly operation: OperationDefinition;
  readonly params: Readonly<Record<string, string>>;
  /** 401 or 403. */
  readonly problem: Problem;
  readonly principal: Principal;
  readonly address: string;
  readonly now: Date;
}

/** Tells identity of refused attempts, which it records in its log (docs/operations/audit.md). */
export interface DenialReporter {
  /** Cheap: adds to a count in memory. */
  note(attempt: DeniedAttempt): void;
  start(): void;
  /** Reports what is left. */
  stop(): Promise<void>;
}

const reportTimeoutMs = 5000;

/** An unknown caller's address, as coarse as statistics have it: an unknown person has no key that it could be sealed under. */
export const networkOf = (address: string): string => {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (isIPv4(plain)) return `${plain.split('.').slice(0, 3).join('.')}.0/24`;
  if (!isIPv6(plain)) return 'unknown';
  const [head = '', tail] = plain.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  // Groups left out are zeros; those behind them are beyond the prefix unless there are many.
  const behind = (tail ?? '').split(':').filter((group) => group !== '');
  const whole = [...groups, ...Array.from({ length: 8 - groups.length - behind.length }, () => '0'), ...behind];
  return `${whole.slice(0, 3).join(':')}::/48`;
};

/** What an operation is about: its last parameter, else the organization, else itself. */
const targetOf = (operation: OperationDefinition, params: Readonly<Record<string, string>>) => {
  const [name, id] = Object.entries(params).at(-1) ?? [];
  if (name === undefined || id === undefined || id.length > 128) return { type: 'operation', id: operation.id };
  const type = name.replace(/Id$/, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return { type: type.slice(0, 64), id };
};

const short = (text: unknown, length: number): string | null =>
  typeof text === 'string' && text !== '' && text.length <= length ? text : null;

/**
 * Adds refused attempts up by actor, operation, target and reason, and reports them once per interval. What it holds and
 * writes is bounded whoever attacks: per interval so many different refusals, fewer of one actor; the others are added to
 * one of the same actor without a target, then to one of everybody.
 */
export const createDenialReporter = (options: {
  readonly call: CallOperation;
  readonly logger: Logger;
  readonly everyMs: number;
  readonly now: () => Date;
  readonly baseUrl: () => string;
}): DenialReporter => {
  const { call, logger, everyMs } = options;
  let counts = new Map<string, Denial>();
  let perActor = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let reporting: Promise<void> = Promise.resolve();

  const add = (denial: Denial): boolean => {
    const key = JSON.stringify([
      denial.status,
      denial.code,
      denial.operation,
      denial.actorId,
      denial.network,
      denial.targetId,
    ]);
    const known = counts.get(key);
    if (known !== undefined) {
      counts.set(key, { ...known, count: known.count + denial.count, lastAt: denial.lastAt });
      return true;
    }
    const actor = `${denial.actorId} ${denial.network ?? ''}`;
    const different = perActor.get(actor) ?? 0;
    const ofAll = denial.actorId === 'various';
    const most = limits.audit.denialsPerMinute - (ofAll ? 0 : 4);
    if (counts.size >= most || (different >= limits.audit.denialsPerActor && denial.operation !== 'various'))
      return false;
    perActor.set(actor, different + 1);
    counts.set(key, denial);
    return true;
  };

  const report = async (): Promise<void> => {
    if (counts.size === 0) return;
    const denials = [...counts.values()];
    counts = new Map();
    perActor = new Map();
    const ids = createIdSource();
    const reportId = ids.id();
    try {
      await call(
        reportDenials,
        {
          principal: servicePrincipal('gateway'),
          requestId: reportId,
          now: options.now(),
          ids,
          signal: AbortSignal.timeout(reportTimeoutMs),
          baseUrl: options.baseUrl(),
        },
        { params: {}, query: {}, body: { reportId, denials } },
      );
    } catch (error) {
      logger.warn('refused attempts are reported later', { error, count: denials.length });
      for (const denial of denials) add(denial);
    }
  };
  const next = (): Promise<void> => {
    reporting = reporting.then(report);
    return reporting;
  };

  return {
    note({ operation, params, problem, principal, address, now }) {
      const known = principal.id !== 'anonymous';
      const target = targetOf(operation, params);
      const at = now.toISOString();
      const denial: Denial = {
        status: problem.kind === 'forbidden' ? '403' : '401',
        code: problem.code.slice(0, 128),
        operation: operation.id,
        actorId: principal.id,
        tokenId: known ? principal.tokenId : null,
        origin: short(principal.origin, 512),
        network: known ? null : networkOf(address),
        organizationId: short(params.organizationId ?? problem.details.organizationId, 64),
        targetType: target.type,
        targetId: target.id,
        count: 1,
        firstAt: at,
        lastAt: at,
      };
      const vague = { operation: 'various', code: 'various', targetType: 'operation', targetId: 'various' };
      if (add(denial) || add({ ...denial, ...vague, organizationId: null })) return;
      add({
        ...denial,
        ...vague,
        organizationId: null,
        actorId: 'various',
        tokenId: null,
        origin: null,
        network: null,
      });
    },
    start() {
      timer = setInterval(() => void next(), everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await next();
    },
  };
};
