import { test } from '@jest/globals';
import { at, specificationOf } from '../../testing.ts';
import { denialAggregate } from './decider.ts';
import type { DenialEvent } from './events.ts';

const given = specificationOf(denialAggregate.decider);
const denied: DenialEvent['data'] = {
  status: '403',
  code: 'space.edit_needed',
  operation: 'updateSpaceById',
  actorId: 'u1',
  targetType: 'space',
  targetId: 's1',
  count: 3,
  firstAt: at,
  lastAt: at,
};
const record = { type: 'RecordDenials', data: { denials: [denied] } } as const;

test('refused attempts are recorded once, however often the report comes', () => {
  given().when(record).thenEvents({ type: 'AccessDenied', data: denied });
  given({ type: 'AccessDenied', data: denied }).when(record).thenNothing();
});
