import { describe, test } from '@jest/globals';
import { at, later, specificationOf } from '../../testing.ts';
import { type ExternalIdentityEvent, externalIdentityAggregate } from './external-identities.ts';

const given = specificationOf(externalIdentityAggregate.decider);
const linked = (userId: string, linkedAt = at) =>
  ({ type: 'ExternalIdentityLinked', data: { userId, identity: 'i1', sealed: 'ciphertext', linkedAt } }) as const;
const chosen = (identity: string) =>
  ({ type: 'ExternalIdentityChosen', data: { userId: 'u1', identity, chosenAt: at } }) as const;

describe('LinkExternalIdentity', () => {
  const link = (userId: string) => ({ type: 'LinkExternalIdentity', data: linked(userId, later).data }) as const;
  test('leads to one user for good', () => {
    given().when(link('u1')).thenEvents(linked('u1', later));
    given(linked('u1')).when(link('u1')).thenNothing();
    given(linked('u1')).when(link('u2')).thenRefused('unauthenticated', 'sign_in.oidc');
  });
});

describe('ChooseExternalIdentity', () => {
  const choose = (identity: string) => ({ type: 'ChooseExternalIdentity', data: chosen(identity).data }) as const;
  test('is made once', () => {
    given().when(choose('i1')).thenEvents(chosen('i1'));
    given(chosen('i1')).when(choose('i1')).thenNothing();
    given(chosen('i1')).when(choose('i2')).thenRefused('unauthenticated', 'sign_in.oidc');
  });
});

test('an event this version does not know changes nothing', () => {
  const unknown = { type: 'ExternalIdentityUnlinked', data: {} } as unknown as ExternalIdentityEvent;
  given(linked('u1'), unknown)
    .when({ type: 'LinkExternalIdentity', data: linked('u1').data })
    .thenNothing();
});
