import { describe, expect, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { userAggregate } from './decider.ts';
import type { UserEvent } from './events.ts';

const given = specificationOf(userAggregate.decider);
const userId = 'u1';
const personal = { sealed: 'ciphertext', marks: { email: 'm1', displayName: 'm2' } };
const registered: UserEvent = {
  type: 'UserRegistered',
  data: { userId, emailDigest: 'd1', personal, registeredAt: at },
};
const renamed: UserEvent = {
  type: 'UserProfileChanged',
  data: { userId, personal: { sealed: 'other', marks: { displayName: 'm3' } }, changedAt: later },
};

describe('RegisterUser', () => {
  test('registers', () => {
    given().when({ type: 'RegisterUser', data: registered.data }).thenEvents(registered);
  });
  test('refuses an id that another person has', () => {
    given(registered)
      .when({ type: 'RegisterUser', data: { ...registered.data, emailDigest: 'd2' } })
      .thenRefused('conflict', 'user.exists');
  });
  test('stays quiet when the registration was completed before', () => {
    given(registered, renamed).when({ type: 'RegisterUser', data: registered.data }).thenNothing();
  });
});

describe('EraseUser', () => {
  const erased: UserEvent = { type: 'UserErased', data: { userId, erasedAt: later } };
  test('erases, and nothing changes the person any more', () => {
    given(registered).when({ type: 'EraseUser', data: erased.data }).thenEvents(erased);
    given(registered, erased)
      .when({ type: 'ChangeUserProfile', data: renamed.data })
      .thenRefused('not-found', 'user.not_found');
    given(registered, erased).when({ type: 'RegisterUser', data: registered.data }).thenNothing();
  });
  test('refuses an unknown user', () => {
    given().when({ type: 'EraseUser', data: erased.data }).thenRefused('not-found', 'user.not_found');
  });
  test('stays quiet when it was done before', () => {
    given(registered, erased).when({ type: 'EraseUser', data: erased.data }).thenNothing();
  });
});

describe('ChangeUserProfile', () => {
  test('changes', () => {
    given(registered).when({ type: 'ChangeUserProfile', data: renamed.data }).thenEvents(renamed);
  });
  test('refuses an unknown user', () => {
    given().when({ type: 'ChangeUserProfile', data: renamed.data }).thenRefused('not-found', 'user.not_found');
  });
  test('stays quiet when the values are the present ones', () => {
    given(registered, renamed).when({ type: 'ChangeUserProfile', data: renamed.data }).thenNothing();
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'UserPromoted', data: {} } as unknown as UserEvent;
  expect(given(registered, unknown).state).toEqual(given(registered).state);
  expect(given(renamed).state).toEqual({ status: 'none' });
});
