import { describe, expect, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { type SubdomainCommand, type SubdomainEvent, subdomainAggregate } from './aggregate.ts';

const given = specificationOf(subdomainAggregate.decider);
const claimed = (organizationId: string, claimId: string): SubdomainEvent => ({
  type: 'SubdomainClaimed',
  data: { subdomain: 'docs', organizationId, claimId, claimedAt: at },
});
const claim = (organizationId: string, claimId: string, abandoned?: string): SubdomainCommand => ({
  type: 'ClaimSubdomain',
  data: {
    ...{ subdomain: 'docs', organizationId, claimId, claimedAt: at },
    ...(abandoned === undefined ? {} : { abandoned }),
  },
});
const released = (claimId: string): SubdomainEvent => ({
  type: 'SubdomainReleased',
  data: { subdomain: 'docs', organizationId: 'o1', claimId, releasedAt: later },
});
const release = (claimId: string): SubdomainCommand => ({
  type: 'ReleaseSubdomain',
  data: { subdomain: 'docs', organizationId: 'o1', claimId, releasedAt: later },
});

describe('a name', () => {
  test('belongs to who claims it first', () => {
    given().when(claim('o1', 'c1')).thenEvents(claimed('o1', 'c1'));
    given(claimed('o1', 'c1')).when(claim('o2', 'c2')).thenRefused('conflict', 'organization.hostname_taken');
    given(claimed('o1', 'c1')).when(claim('o1', 'c1')).thenNothing();
  });
  test('is claimed anew by its holder, after which the older claim releases nothing', () => {
    given(claimed('o1', 'c1')).when(claim('o1', 'c2')).thenEvents(claimed('o1', 'c2'));
    given(claimed('o1', 'c1'), claimed('o1', 'c2')).when(release('c1')).thenNothing();
    given(claimed('o1', 'c1'), claimed('o1', 'c2')).when(release('c2')).thenEvents(released('c2'));
  });
  test('is free again once released', () => {
    given(claimed('o1', 'c1'), released('c1')).when(claim('o2', 'c2')).thenEvents(claimed('o2', 'c2'));
  });
  test('is taken over only while the claim is the one that was found abandoned', () => {
    given(claimed('o1', 'c1'))
      .when(claim('o2', 'c2', 'c1'))
      .thenEvents(claimed('o2', 'c2'));
    given(claimed('o1', 'c3'))
      .when(claim('o2', 'c2', 'c1'))
      .thenRefused('conflict', 'organization.hostname_taken');
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'SubdomainSold', data: {} } as unknown as SubdomainEvent;
  expect(given(claimed('o1', 'c1'), unknown).state).toEqual(given(claimed('o1', 'c1')).state);
});
