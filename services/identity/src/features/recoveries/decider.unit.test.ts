import { test } from '@jest/globals';
import { specificationOf } from '../../testing.ts';
import { recoveryAggregate } from './decider.ts';
import type { RecoveryEvent } from './events.ts';

const given = specificationOf(recoveryAggregate.decider);
const asked: RecoveryEvent['data'] = {
  kind: 'parked-key',
  service: 'content',
  owner: 'content-grants',
  topic: 'bindery.identity.v1',
  target: 'o1',
  attempts: 5,
};
const record = { type: 'RecordRecovery', data: asked } as const;

test('what an administrator asks for is recorded once, however often the request comes', () => {
  given().when(record).thenEvents({ type: 'RecoveryAsked', data: asked });
  given({ type: 'RecoveryAsked', data: asked }).when(record).thenNothing();
});
