import { test } from '@jest/globals';
import { specificationOf } from '../../testing.ts';
import { recoveryAggregate } from './decider.ts';
import type { RecoveryEvent } from './events.ts';

const given = specificationOf(recoveryAggregate.decider);
const asked: Extract<RecoveryEvent, { type: 'RecoveryAsked' }>['data'] = {
  kind: 'parked-key',
  service: 'content',
  owner: 'content-grants',
  topic: 'bindery.identity.v1',
  target: 'o1',
  attempts: 5,
};
const record = { type: 'RecordRecovery', data: asked } as const;

const givenUp = {
  ...asked,
  kind: 'parked-key',
  ...{ topic: 'bindery.identity.v1', partition: 1, offset: '7', reason: 'never was released' },
} as const;

test('that a message is given up is recorded with the reason, once', () => {
  const discard = { type: 'RecordDiscard', data: givenUp } as const;
  given().when(discard).thenEvents({ type: 'DiscardAsked', data: givenUp });
  given({ type: 'DiscardAsked', data: givenUp }).when(discard).thenNothing();
});

test('that a key is forgotten is recorded with the reason, once', () => {
  const data = {
    ...asked,
    kind: 'parked-key',
    ...{ topic: 'bindery.identity.v1', letters: 3, since: '2026-03-01T12:00:00.000Z', reason: 'lost with a disk' },
  } as const;
  given().when({ type: 'RecordForget', data }).thenEvents({ type: 'ForgetAsked', data });
  given({ type: 'ForgetAsked', data }).when({ type: 'RecordForget', data }).thenNothing();
});

test('what an administrator asks for is recorded once, however often the request comes', () => {
  given().when(record).thenEvents({ type: 'RecoveryAsked', data: asked });
  given({ type: 'RecoveryAsked', data: asked }).when(record).thenNothing();
});
