import { describe, expect, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { type SessionCommand, sessionsAggregate } from './decider.ts';
import type { SessionEvent } from './events.ts';

type Started = Extract<SessionEvent, { type: 'SessionStarted' }>;

const given = specificationOf(sessionsAggregate.decider);
const tomorrow = '2026-02-01T09:30:00.000Z';
const started = (sessionId: string, more: Partial<Started['data']> = {}): Started => ({
  type: 'SessionStarted',
  data: {
    userId: 'u1',
    sessionId,
    sessionHash: `hash of ${sessionId}`,
    method: 'password',
    client: 'sealed',
    startedAt: at,
    expiresAt: tomorrow,
    ...more,
  },
});
const ended = (
  sessionIds: readonly string[],
  reason: Extract<SessionEvent, { type: 'SessionsEnded' }>['data']['reason'],
  endedAt = later,
): SessionEvent => ({ type: 'SessionsEnded', data: { userId: 'u1', sessionIds, reason, endedAt } });
type Ending = Extract<SessionCommand, { type: 'EndSessions' }>['data'];
const start = (event: Started) => ({ type: 'StartSession', data: event.data }) as const;

describe('StartSession', () => {
  test('starts', () => {
    given()
      .when(start(started('s1')))
      .thenEvents(started('s1'));
  });
  test('puts away what has expired', () => {
    const next = started('s2', { startedAt: tomorrow, expiresAt: '2026-02-02T00:00:00.000Z' });
    given(started('s1'))
      .when(start(next))
      .thenEvents(ended(['s1'], 'expired', tomorrow), next);
  });
  test('ends the oldest of fifty', () => {
    const fifty = Array.from({ length: 50 }, (_, index) => started(`s${index}`));
    given(...fifty)
      .when(start(started('new')))
      .thenEvents(ended(['s0'], 'superseded', at), started('new'));
    given(...fifty, ended(['s7'], 'revoked'))
      .when(start(started('new')))
      .thenEvents(started('new'));
  });
  test('stays quiet when it is there', () => {
    given(started('s1'))
      .when(start(started('s1')))
      .thenNothing();
  });
});

describe('EndSessions', () => {
  const end = (which: Pick<Ending, 'sessionIds' | 'organizationId' | 'providerId'>) =>
    ({ type: 'EndSessions', data: { userId: 'u1', reason: 'revoked', endedAt: later, ...which } }) as const;
  const saml = started('s2', { method: 'saml', organizationId: 'o1' });
  test('ends those named, those of an organization, or all', () => {
    given(started('s1'), saml)
      .when(end({ sessionIds: ['s1', 'x'] }))
      .thenEvents(ended(['s1'], 'revoked'));
    given(started('s1'), saml)
      .when(end({ organizationId: 'o1' }))
      .thenEvents(ended(['s2'], 'revoked'));
    given(started('s1'), saml)
      .when(end({}))
      .thenEvents(ended(['s1', 's2'], 'revoked'));
  });
  test('ends those of a provider, and those of which it is not known whose they are', () => {
    const of = (sessionId: string, providerId: string) =>
      started(sessionId, { method: 'saml', organizationId: 'o1', providerId });
    given(started('s1'), saml, of('s3', 'p1'), of('s4', 'p2'))
      .when(end({ organizationId: 'o1', providerId: 'p1' }))
      .thenEvents(ended(['s2', 's3'], 'revoked'));
    given(of('s3', 'p1'))
      .when(end({ organizationId: 'o2', providerId: 'p1' }))
      .thenNothing();
  });
  test('stays quiet when there is none', () => {
    given().when(end({})).thenNothing();
    given(started('s1'))
      .when(end({ sessionIds: ['x'] }))
      .thenNothing();
    given(started('s1'))
      .when(end({ organizationId: 'o1' }))
      .thenNothing();
    given(started('s1'), ended(['s1'], 'revoked'))
      .when(end({}))
      .thenNothing();
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'SessionMoved', data: {} } as unknown as SessionEvent;
  expect(given(started('s1'), unknown).state).toEqual(given(started('s1')).state);
});
