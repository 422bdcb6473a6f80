import { describe, expect, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { attemptsAggregate, attemptsId, attemptsPerDay, type SignInFailed } from './attempts.ts';
import { passwordAggregate } from './decider.ts';
import type { PasswordEvent } from './events.ts';

type Of<T extends PasswordEvent['type']> = Extract<PasswordEvent, { type: T }>;

const given = specificationOf(passwordAggregate.decider);
const issued = (linkId: string): Of<'SignInLinkIssued'> => ({
  type: 'SignInLinkIssued',
  data: {
    userId: 'u1',
    linkId,
    purpose: 'reset',
    mail: true,
    baseUrl: 'https://docs.example.org',
    issuedAt: at,
    expiresAt: later,
  },
});
const used = (linkId: string): Of<'SignInLinkUsed'> => ({
  type: 'SignInLinkUsed',
  data: { userId: 'u1', linkId, usedAt: at },
});
const set = (passwordId: string): Of<'PasswordSet'> => ({
  type: 'PasswordSet',
  data: { userId: 'u1', passwordId, sealed: 'ciphertext', setAt: at },
});

describe('IssueSignInLink', () => {
  test('issues, once', () => {
    given()
      .when({ type: 'IssueSignInLink', data: issued('l1').data })
      .thenEvents(issued('l1'));
    given(issued('l1'))
      .when({ type: 'IssueSignInLink', data: issued('l1').data })
      .thenNothing();
  });
});

describe('UseSignInLink', () => {
  const use = (linkId: string, more: object = {}) =>
    ({ type: 'UseSignInLink', data: { ...used(linkId).data, ...more } }) as const;
  test('uses it, with and without a password', () => {
    given(issued('l1')).when(use('l1')).thenEvents(used('l1'));
    given(issued('l1'))
      .when(use('l1', { password: set('p1').data }))
      .thenEvents(used('l1'), set('p1'));
  });
  test('refuses one that is not there, was used, has expired, or is older than the password or than five others', () => {
    given().when(use('l1')).thenRefused('unauthenticated', 'sign_in.link');
    given(issued('l1'), used('l1')).when(use('l1')).thenRefused('unauthenticated', 'sign_in.link');
    given(issued('l1'))
      .when(use('l1', { usedAt: later }))
      .thenRefused('unauthenticated', 'sign_in.link');
    given(issued('l1'), set('p1')).when(use('l1')).thenRefused('unauthenticated', 'sign_in.link');
    given(...['l1', 'l2', 'l3', 'l4', 'l5', 'l6'].map(issued))
      .when(use('l1'))
      .thenRefused('unauthenticated', 'sign_in.link');
  });
});

describe('ReplacePassword', () => {
  const replace = (replaces: string) => ({ type: 'ReplacePassword', data: { ...set('p2').data, replaces } }) as const;
  test('replaces the one that was checked, and no other', () => {
    given(set('p1')).when(replace('p1')).thenEvents(set('p2'));
    given(set('p1'), set('p3')).when(replace('p1')).thenRefused('conflict', 'password.changed');
    given().when(replace('p1')).thenRefused('conflict', 'password.changed');
  });
});

describe('NoteFailure', () => {
  const failed: SignInFailed = {
    type: 'SignInFailed',
    data: { userId: 'u1', method: 'password', reason: 'password', client: 'sealed', failedAt: at },
  };
  test('records so many a day of a user, and no more', () => {
    const attempts = specificationOf(attemptsAggregate.decider);
    const full = Array.from({ length: attemptsPerDay.user }, () => failed);
    attempts(...full.slice(1))
      .when({ type: 'NoteFailure', data: failed.data })
      .thenEvents(failed);
    attempts(...full)
      .when({ type: 'NoteFailure', data: failed.data })
      .thenNothing();
    expect([attemptsId('u1', at), attemptsId(undefined, at)]).toEqual(['u1-2026-01-31', 'unknown-2026-01-31']);
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'PasswordExpired', data: {} } as unknown as PasswordEvent;
  expect(given(set('p1'), unknown).state).toEqual(given(set('p1')).state);
});
