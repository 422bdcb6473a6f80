import { describe, expect, test } from '@jest/globals';
import { at, specificationOf } from '../../testing.ts';
import { emailAggregate } from './decider.ts';
import type { EmailEvent } from './events.ts';

const given = specificationOf(emailAggregate.decider);
const personal = { sealed: 'ciphertext', marks: {} };
const reserved: EmailEvent = {
  type: 'EmailReserved',
  data: { emailDigest: 'd1', userId: 'u1', personal, reservedAt: at },
};

describe('ReserveEmail', () => {
  test('reserves', () => {
    given().when({ type: 'ReserveEmail', data: reserved.data }).thenEvents(reserved);
  });
  test('refuses an email that another user has', () => {
    given(reserved)
      .when({ type: 'ReserveEmail', data: { ...reserved.data, userId: 'u2' } })
      .thenRefused('conflict', 'user.email_taken');
  });
  test('stays quiet for the user who has it', () => {
    given(reserved).when({ type: 'ReserveEmail', data: reserved.data }).thenNothing();
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'EmailReleased', data: {} } as unknown as EmailEvent;
  expect(given(reserved, unknown).state).toEqual({ status: 'reserved', userId: 'u1' });
});
