import { apiOperations, type BodyOf, limits, type reportDenials } from '@bindery/contracts';
import { anonymous, forbidden, type Principal, Problem } from '@bindery/service-kit';
import { noopTelemetry } from '@bindery/telemetry';
import { describe, expect, test } from '@jest/globals';
import { createDenialReporter, networkOf } from './denials.ts';

const { getApiInformation } = apiOperations;
type Report = BodyOf<typeof reportDenials>;

const caller = (id: string): Principal => ({
  kind: 'user',
  id,
  tokenId: `t-${id}`,
  instanceAdmin: false,
  organizations: {},
});
const problem = forbidden('some.reason', 'No.');
const now = new Date('2026-01-31T09:30:00.000Z');

const reporter = (failures = 0) => {
  const reports: Report[] = [];
  let left = failures;
  const denials = createDenialReporter({
    call: async (_operation, _context, { body }) => {
      left -= 1;
      if (left >= 0) throw new Error('away');
      reports.push(body as Report);
      return { status: 204 };
    },
    logger: noopTelemetry().logger,
    everyMs: 60_000,
    now: () => now,
    baseUrl: () => '',
  });
  const note = (principal: Principal, target: string, address = '203.0.113.7') =>
    denials.note({ operation: getApiInformation, params: { spaceId: target }, problem, principal, address, now });
  return { reports, denials, note };
};
const total = ({ denials }: Report): number => denials.reduce((sum, { count }) => sum + count, 0);

describe('refused attempts', () => {
  test('are added up by who, what and why', async () => {
    const { reports, denials, note } = reporter();
    for (let n = 0; n < 5; n += 1) note(caller('u1'), 's1');
    note(caller('u2'), 's1');
    await denials.stop();
    expect(reports).toHaveLength(1);
    expect(reports[0]?.denials).toMatchObject([
      { actorId: 'u1', targetType: 'space', targetId: 's1', count: 5, status: '403', network: null },
      { actorId: 'u2', count: 1 },
    ]);
  });

  test('are bounded whoever attacks, and none is lost from the count', async () => {
    const { reports, denials, note } = reporter();
    for (let n = 0; n < 1000; n += 1) note(caller('u1'), `s${n}`);
    for (let n = 0; n < 1000; n += 1) note(caller(`u${n}`), 's1');
    for (let n = 0; n < 1000; n += 1) note(anonymous, 's1', `198.51.${n % 250}.${n % 7}`);
    await denials.stop();
    const [report = { reportId: '', denials: [] }] = reports;
    expect(report.denials.length).toBeLessThanOrEqual(limits.audit.denialsPerMinute);
    expect(report.denials.filter(({ actorId }) => actorId === 'u1').length).toBeLessThanOrEqual(
      limits.audit.denialsPerActor + 1,
    );
    expect(total(report)).toBe(3000);
  });

  test('are reported later when identity is away', async () => {
    const { reports, denials, note } = reporter(1);
    note(caller('u1'), 's1');
    await denials.stop();
    expect(reports).toEqual([]);
    await denials.stop();
    expect(reports.map(total)).toEqual([1]);
  });

  test('of the unknown tell a network, of the known nothing but what is sealed', async () => {
    expect(networkOf('203.0.113.77')).toBe('203.0.113.0/24');
    expect(networkOf('::ffff:203.0.113.77')).toBe('203.0.113.0/24');
    expect(networkOf('2001:db8:1:2::3')).toBe('2001:db8:1::/48');
    expect(networkOf('2001:db8::3')).toBe('2001:db8:0::/48');
    expect(networkOf('::1')).toBe('0:0:0::/48');
    expect(networkOf(`${'a'.repeat(60)}.b.c.d`)).toBe('unknown');
    expect(networkOf('nonsense')).toBe('unknown');
    const { reports, denials, note } = reporter();
    note({ ...caller('u1'), origin: 'sealed' }, 's1');
    denials.note({
      operation: getApiInformation,
      params: {},
      problem: new Problem('unauthenticated', 'token.invalid', 'No.'),
      principal: anonymous,
      address: '203.0.113.77',
      now,
    });
    await denials.stop();
    expect(JSON.stringify(reports)).not.toContain('203.0.113.7');
    expect(reports[0]?.denials).toMatchObject([
      { origin: 'sealed', network: null },
      { actorId: 'anonymous', status: '401', network: '203.0.113.0/24', targetType: 'operation' },
    ]);
  });
});
