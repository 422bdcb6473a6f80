import { describe, expect, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { credentialsAggregate } from './decider.ts';
import type { CredentialsEvent } from './events.ts';

type Issued = Extract<CredentialsEvent, { type: 'TokenIssued' }>;

const given = specificationOf(credentialsAggregate.decider);
const issued = (tokenId: string, more: Partial<Issued['data']> = {}): Issued => ({
  type: 'TokenIssued',
  data: { userId: 'u1', tokenId, tokenHash: `hash of ${tokenId}`, name: 'Laptop', issuedAt: at, ...more },
});
const revoked = (tokenId: string): CredentialsEvent => ({
  type: 'TokenRevoked',
  data: { userId: 'u1', tokenId, revokedAt: later },
});
const hundred = Array.from({ length: 100 }, (_, index) => issued(`t${index}`));

describe('IssueToken', () => {
  test('issues', () => {
    given(issued('t1'))
      .when({ type: 'IssueToken', data: issued('t2').data })
      .thenEvents(issued('t2'));
  });
  test('refuses one that has expired already', () => {
    given()
      .when({ type: 'IssueToken', data: issued('t1', { expiresAt: at }).data })
      .thenRefused('invalid', 'token.expired');
  });
  test('refuses the 101st, and counts neither revoked nor expired ones', () => {
    const more = issued('more', { issuedAt: later });
    given(...hundred)
      .when({ type: 'IssueToken', data: more.data })
      .thenRefused('conflict', 'token.limit');
    given(...hundred, revoked('t5'))
      .when({ type: 'IssueToken', data: more.data })
      .thenEvents(more);
    given(...hundred.slice(1), issued('t0', { expiresAt: later }))
      .when({ type: 'IssueToken', data: more.data })
      .thenEvents(more);
  });
  test('gives a repeated request a token that works', () => {
    const again = issued('t1', { tokenHash: 'another secret' });
    given(issued('t1')).when({ type: 'IssueToken', data: again.data }).thenEvents(again);
  });
  test('stays quiet when the very same token is there', () => {
    given(issued('t1'))
      .when({ type: 'IssueToken', data: issued('t1').data })
      .thenNothing();
  });
});

describe('EnsureToken', () => {
  const wanted = issued('configured', { tokenHash: 'configured', issuedAt: later });
  test('issues when no such token works', () => {
    given().when({ type: 'EnsureToken', data: wanted.data }).thenEvents(wanted);
    given(issued('t1', { tokenHash: 'configured' }), revoked('t1'))
      .when({ type: 'EnsureToken', data: wanted.data })
      .thenEvents(wanted);
    given(issued('t1', { tokenHash: 'configured', expiresAt: later }))
      .when({ type: 'EnsureToken', data: wanted.data })
      .thenEvents(wanted);
  });
  test('stays quiet when it works under any id', () => {
    given(issued('t1', { tokenHash: 'configured' }))
      .when({ type: 'EnsureToken', data: wanted.data })
      .thenNothing();
  });
  test('refuses beyond the limit', () => {
    given(...hundred)
      .when({ type: 'EnsureToken', data: wanted.data })
      .thenRefused('conflict', 'token.limit');
  });
});

describe('RevokeToken', () => {
  test('revokes', () => {
    given(issued('t1'))
      .when({ type: 'RevokeToken', data: { userId: 'u1', tokenId: 't1', revokedAt: later } })
      .thenEvents(revoked('t1'));
  });
  test('stays quiet when there is no such token, or no more', () => {
    const command = { type: 'RevokeToken', data: { userId: 'u1', tokenId: 't1', revokedAt: later } } as const;
    given().when(command).thenNothing();
    given(issued('t1'), revoked('t1')).when(command).thenNothing();
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'TokenRotated', data: {} } as unknown as CredentialsEvent;
  expect(given(issued('t1'), unknown).state).toEqual(given(issued('t1')).state);
});
