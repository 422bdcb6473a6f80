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

describe('ReleaseEmail', () => {
  const released: EmailEvent = { type: 'EmailReleased', data: { emailDigest: 'd1', userId: 'u1', releasedAt: at } };
  test('frees an email for others', () => {
    given(reserved).when({ type: 'ReleaseEmail', data: released.data }).thenEvents(released);
    const anew: EmailEvent = { type: 'EmailReserved', data: { ...reserved.data, userId: 'u2' } };
    given(reserved, released).when({ type: 'ReserveEmail', data: anew.data }).thenEvents(anew);
  });
  test('stays quiet when it is free, or somebody else has it', () => {
    given(reserved, released).when({ type: 'ReleaseEmail', data: released.data }).thenNothing();
    given({ type: 'EmailReserved', data: { ...reserved.data, userId: 'u2' } })
      .when({ type: 'ReleaseEmail', data: released.data })
      .thenNothing();
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'EmailPraised', data: {} } as unknown as EmailEvent;
  expect(given(reserved, unknown).state).toEqual({ status: 'reserved', userId: 'u1' });
});
