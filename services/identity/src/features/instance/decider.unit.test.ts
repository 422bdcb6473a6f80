import { describe, expect, test } from '@jest/globals';
import { at, specificationOf } from '../../testing.ts';
import { instanceAggregate } from './decider.ts';
import type { InstanceEvent } from './events.ts';

const given = specificationOf(instanceAggregate.decider);
const initialized: InstanceEvent = {
  type: 'InstanceInitialized',
  data: { administratorId: 'u1', organizationId: 'o1', initializedAt: at },
};

describe('InitializeInstance', () => {
  test('initializes', () => {
    given().when({ type: 'InitializeInstance', data: initialized.data }).thenEvents(initialized);
  });
  test('refuses another administrator', () => {
    given(initialized)
      .when({ type: 'InitializeInstance', data: { ...initialized.data, administratorId: 'u2' } })
      .thenRefused('conflict', 'instance.initialized');
  });
  test('stays quiet when it is repeated', () => {
    given(initialized).when({ type: 'InitializeInstance', data: initialized.data }).thenNothing();
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'InstanceMoved', data: {} } as unknown as InstanceEvent;
  expect(given(initialized, unknown).state).toEqual(given(initialized).state);
});
