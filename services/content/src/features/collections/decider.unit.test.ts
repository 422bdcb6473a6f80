import { specification } from '@bindery/testing/event-sourcing';
import { describe, test } from '@jest/globals';
import type { CollectionCommand } from './decider.ts';
import { collectionsDecider } from './decider.ts';
import type { CollectionEvent } from './events.ts';

const collections = specification(collectionsDecider);
const at = '2026-03-01T12:00:00.000Z';
const organizationId = 'o1';
const bounds = { maxDepth: 3, maxCollections: 4 };

const created = (collectionId: string, parent: string | null = null): CollectionEvent => ({
  type: 'CollectionCreated',
  data: {
    organizationId,
    collectionId,
    title: collectionId,
    parent,
    defaultLevel: 'inherit',
    order: `k${collectionId}`,
    createdBy: 'u1',
    createdAt: at,
  },
});
const create = (collectionId: string, parent: string | null = null): CollectionCommand => ({
  type: 'CreateCollection',
  data: {
    organizationId,
    collectionId,
    title: collectionId,
    parent,
    order: `k${collectionId}`,
    createdBy: 'u1',
    createdAt: at,
  },
  bounds,
});
const move = (collectionId: string, parent: string | null, order = 'new'): CollectionCommand => ({
  type: 'MoveCollection',
  data: { organizationId, collectionId, parent, order, movedBy: 'u1', movedAt: at },
  bounds,
});
const remove = (collectionId: string): CollectionCommand => ({
  type: 'DeleteCollection',
  data: { organizationId, collectionId, deletedBy: 'u1', deletedAt: at },
});
const change = (more: object): CollectionCommand => ({
  type: 'ChangeCollection',
  data: { organizationId, collectionId: 'a', ...more, changedBy: 'u1', changedAt: at },
});
const send: CollectionCommand = {
  type: 'StartCollectionTransfer',
  data: { organizationId, collectionId: 'b', transferId: 't1', to: 'o2', order: 'top', startedBy: 'u1', startedAt: at },
};
const moved = (collectionId: string, parent: string | null, order = 'new'): CollectionEvent => ({
  type: 'CollectionMoved',
  data: { organizationId, collectionId, parent, order, movedBy: 'u1', movedAt: at },
});
const facts = (collectionId: string, parent: string | null, order = `k${collectionId}`) => ({
  ...{ collectionId, title: collectionId, parent, defaultLevel: 'inherit' as const, order },
});
const started: CollectionEvent = {
  type: 'CollectionTransferStarted',
  data: {
    organizationId,
    transferId: 't1',
    to: 'o2',
    collections: [facts('b', null, 'top'), facts('c', 'b')],
    startedBy: 'u1',
    startedAt: at,
  },
};
/** a > b > c, and d beside a. */
const tree = [created('a'), created('b', 'a'), created('c', 'b'), created('d')];

describe('creating', () => {
  test('once', () =>
    collections
      .given([])
      .when(create('a'))
      .thenEvents([created('a')]));
  test('twice is once', () =>
    collections
      .given([created('a')])
      .when(create('a'))
      .thenNothing());
  test('not in what is not there', () =>
    collections.given([]).when(create('a', 'x')).thenRefuses('collection.not_found'));
  test('not too deep', () => collections.given(tree).when(create('e', 'c')).thenRefuses('collection.too_deep'));
  test('not too many', () => collections.given(tree).when(create('e')).thenRefuses('collection.too_many'));
});

describe('changing', () => {
  test('only what is different is said', () =>
    collections
      .given(tree)
      .when(change({ title: 'a', description: '', defaultLevel: null }))
      .thenEvents([
        {
          type: 'CollectionChanged',
          data: { organizationId, collectionId: 'a', defaultLevel: null, changedBy: 'u1', changedAt: at },
        },
      ]));
  test('nothing is no event', () =>
    collections
      .given(tree)
      .when(change({ title: 'a' }))
      .thenNothing());
  test('not what is not there', () => collections.given([]).when(change({})).thenRefuses('collection.not_found'));
});

describe('moving', () => {
  test('elsewhere', () =>
    collections
      .given(tree)
      .when(move('c', 'd'))
      .thenEvents([moved('c', 'd')]));
  test('to where it is changes nothing', () =>
    collections
      .given(tree)
      .when(move('c', 'b', 'kc'))
      .thenNothing());
  test('not into itself', () => collections.given(tree).when(move('a', 'a')).thenRefuses('collection.cycle'));
  test('not into what is in it', () => collections.given(tree).when(move('a', 'c')).thenRefuses('collection.cycle'));
  test('the other of two moves into one another is refused', () =>
    collections
      .given([...tree, moved('d', 'a')])
      .when(move('a', 'd'))
      .thenRefuses('collection.cycle'));
  test('not too deep with what is in it', () =>
    collections.given(tree).when(move('a', 'd')).thenRefuses('collection.too_deep'));
});

describe('deleting', () => {
  test('with what is inside, and what its default meant', () =>
    collections
      .given([
        ...tree,
        {
          type: 'CollectionChanged',
          data: { organizationId, collectionId: 'a', defaultLevel: null, changedBy: 'u1', changedAt: at },
        },
      ])
      .when(remove('b'))
      .thenEvents([
        {
          type: 'CollectionDeleted',
          data: {
            organizationId,
            collectionId: 'b',
            collections: [
              { collectionId: 'b', lastDefault: null },
              { collectionId: 'c', lastDefault: null },
            ],
            deletedBy: 'u1',
            deletedAt: at,
          },
        },
      ]));
  test('what is not there changes nothing', () => collections.given([]).when(remove('a')).thenNothing());
  test('not while something in it is leaving', () =>
    collections
      .given([...tree, started])
      .when(remove('a'))
      .thenRefuses('collection.in_transfer'));
});

describe('going to another organization', () => {
  test('with what is inside, to the top', () => collections.given(tree).when(send).thenEvents([started]));
  test('once', () =>
    collections
      .given([...tree, started])
      .when(send)
      .thenNothing());
  test('nothing changes on the way', () => {
    const going = collections.given([...tree, started]);
    going.when(move('c', 'd')).thenRefuses('collection.in_transfer');
    going.when(create('e', 'b')).thenRefuses('collection.in_transfer');
    going
      .when({ ...send, data: { ...send.data, transferId: 't2', collectionId: 'a' } })
      .thenRefuses('collection.in_transfer');
  });
  test('arrives once, and is gone then', () => {
    const receive: CollectionCommand = {
      type: 'ReceiveCollections',
      data: {
        organizationId: 'o2',
        transferId: 't1',
        from: 'o1',
        collections: started.data.collections,
        receivedBy: 'u1',
        receivedAt: at,
      },
    };
    const received: CollectionEvent = { type: 'CollectionsReceived', data: receive.data };
    collections.given([]).when(receive).thenEvents([received]);
    collections.given([received]).when(receive).thenNothing();
    const finish: CollectionCommand = {
      type: 'FinishCollectionTransfer',
      data: { organizationId, transferId: 't1', sentBy: 'u1', sentAt: at },
    };
    const sent: CollectionEvent = {
      type: 'CollectionsSent',
      data: { ...finish.data, to: 'o2', collectionIds: ['b', 'c'] },
    };
    collections
      .given([...tree, started])
      .when(finish)
      .thenEvents([sent]);
    collections
      .given([...tree, started, sent])
      .when(finish)
      .thenNothing();
    collections
      .given([...tree, started, sent])
      .when(move('c', 'd'))
      .thenRefuses('collection.not_found');
  });
});
