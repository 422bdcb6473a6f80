import { describe, expect, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { sameOriginPath } from './addresses.ts';
import { providerAggregate } from './decider.ts';
import { reachable } from './enforcement.ts';
import type { ProviderEvent } from './events.ts';
import { decideUse } from './login/assertion-use.ts';
import { decideLogin } from './login/login-aggregate.ts';
import { createTickets } from './login/tickets.ts';

const given = specificationOf(providerAggregate.decider);
const ids = { providerId: 'p1', organizationId: 'o1' };
const created: ProviderEvent = {
  type: 'SamlProviderCreated',
  data: { ...ids, label: 'Company', certificates: ['c1'], defaultRole: 'edit', createdAt: at },
};
const deleted: ProviderEvent = { type: 'SamlProviderDeleted', data: { ...ids, deletedAt: at } };

describe('a provider', () => {
  test('is created once, also when the request is repeated', () => {
    const command = { type: 'CreateSamlProvider', data: created.data } as const;
    given().when(command).thenEvents(created);
    given(created).when(command).thenNothing();
    given(deleted).when(command).thenRefused('conflict', 'saml_provider.exists');
  });

  test('says what changed, and nothing when nothing did', () => {
    const change = (changes: object, organizationId = 'o1') =>
      ({ type: 'ChangeSamlProvider', data: { ...ids, organizationId, changes, changedAt: later } }) as const;
    given(created)
      .when(change({ label: 'Company', certificates: ['c1', 'c2'] }))
      .thenEvents({
        type: 'SamlProviderChanged',
        data: { ...ids, changes: { certificates: ['c1', 'c2'] }, changedAt: later },
      });
    given(created)
      .when(change({ label: 'Company', certificates: ['c1'] }))
      .thenNothing();
    given(created)
      .when(change({ label: 'Mine' }, 'o2'))
      .thenRefused('not-found', 'SAML_provider.not_found');
    given(created, deleted)
      .when(change({ label: 'X' }))
      .thenRefused('not-found', 'SAML_provider.not_found');
  });

  test('is deleted once, and only by its organization', () => {
    const command = { type: 'DeleteSamlProvider', data: { ...ids, deletedAt: at } } as const;
    given(created).when(command).thenEvents(deleted);
    given(created, deleted).when(command).thenNothing();
    given(created)
      .when({ ...command, data: { ...command.data, organizationId: 'o2' } })
      .thenNothing();
  });
});

describe('an attempt to sign in', () => {
  const login = { loginId: 'l1', ...ids };

  test('is answered once and finished once', () => {
    const accept = { type: 'AcceptSamlLogin', data: { ...login, userId: 'u1', at } } as const;
    const accepted = { status: 'accepted', userId: 'u1', providerId: 'p1' } as const;
    expect(decideLogin(accept, { status: 'open' })).toEqual([
      { type: 'SamlLoginAccepted', data: { ...login, userId: 'u1', acceptedAt: at } },
    ]);
    expect(() => decideLogin(accept, accepted)).toThrow('replay');
    const finish = { type: 'FinishSamlLogin', data: { ...login, at: later } } as const;
    expect(decideLogin(finish, accepted)).toEqual([
      { type: 'SamlLoginFinished', data: { ...login, userId: 'u1', finishedAt: later } },
    ]);
    for (const state of [{ status: 'open' }, { status: 'over' }, { ...accepted, providerId: 'p2' }] as const)
      expect(() => decideLogin(finish, state)).toThrow('replay');
  });

  test('uses its assertion up', () => {
    const command = { type: 'UseSamlAssertion', data: { ...ids, loginId: 'l1', usedAt: at } } as const;
    expect(decideUse(command, { used: false })).toEqual([{ type: 'SamlAssertionUsed', data: command.data }]);
    expect(() => decideUse(command, { used: true })).toThrow('replay');
  });
});

describe('tickets', () => {
  const tickets = createTickets('a secret of the instance');
  const now = new Date(at);
  const ticket = tickets.issue('relay-state', 'p1', ['_0123456789012345678901'], new Date(later));

  test('fit into RelayState, and are worth something for one purpose, one provider and a while', () => {
    expect(ticket.length).toBeLessThanOrEqual(80);
    expect(tickets.read('relay-state', 'p1', ticket, now)).toEqual(['_0123456789012345678901']);
    expect(tickets.read('finish', 'p1', ticket, now)).toBeUndefined();
    expect(tickets.read('relay-state', 'p2', ticket, now)).toBeUndefined();
    expect(tickets.read('relay-state', 'p1', ticket, new Date(later))).toBeUndefined();
    expect(createTickets('another secret').read('relay-state', 'p1', ticket, now)).toBeUndefined();
  });

  test.each([
    ticket.replace('_0', '_1'),
    `${ticket}A`,
    ticket.slice(0, -1),
    '',
    '.',
    '..',
    'a.b.c',
    'x'.repeat(100_000),
  ])('what we did not make is nothing', (forged) =>
    expect(tickets.read('relay-state', 'p1', forged, now)).toBeUndefined(),
  );
});

test.each([
  ['/a?b=c#d', '/a?b=c#d'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/a\\b', '/'],
  ['https://evil.example', '/'],
  ['/a b', '/'],
  ['/\t/evil.example', '/'],
  ['/..//evil.example', '/'],
  ['', '/'],
  [undefined, '/'],
  [`/${'a'.repeat(600)}`, '/'],
])('%j leads to %s', (path, target) => expect(sameOriginPath(path)).toBe(target));

describe('what a caller reaches', () => {
  const memberships = {
    o1: { role: 'edit', teams: [] },
    o2: { role: 'admin', teams: [] },
    o3: { role: null, teams: [] },
  } as const;
  const ofCaller = (by: Parameters<typeof reachable>[1], ...enforcing: readonly string[]) =>
    Object.keys(reachable(memberships, by, new Set(enforcing)));

  test('all that is not enforced; of what is, where it administers or is a guest', () => {
    expect(ofCaller(undefined)).toEqual(['o1', 'o2', 'o3']);
    expect(ofCaller({ method: 'password' }, 'o1', 'o2', 'o3')).toEqual(['o2', 'o3']);
    expect(ofCaller({ method: 'oidc' }, 'o1')).toEqual(['o2', 'o3']);
  });

  test('through SAML the one organization, if it is still a member there', () => {
    expect(ofCaller({ method: 'saml', organizationId: 'o1' }, 'o1')).toEqual(['o1']);
    expect(ofCaller({ method: 'saml', organizationId: 'o9' })).toEqual([]);
    expect(ofCaller({ method: 'saml', organizationId: 'toString' })).toEqual([]);
    expect(ofCaller({ method: 'saml' })).toEqual([]);
  });
});
