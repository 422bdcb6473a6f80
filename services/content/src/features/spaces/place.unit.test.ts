import { specification } from '@bindery/testing/event-sourcing';
import { describe, test } from '@jest/globals';
import { type SpaceCommand, spaceDecider } from './decider.ts';
import type { SpaceEvent } from './events.ts';

const spaces = specification(spaceDecider);
const at = '2026-03-01T12:00:00.000Z';
const ids = { spaceId: 's1', organizationId: 'o1' };

const created = (more: Partial<Extract<SpaceEvent, { type: 'SpaceCreated' }>['data']> = {}): SpaceEvent => ({
  type: 'SpaceCreated',
  data: {
    ...ids,
    title: 'Space',
    visibility: 'private',
    defaultLevel: 'inherit',
    mergeRules: { type: 'inherit' },
    parent: 'c1',
    order: 'k1',
    createdBy: 'u1',
    createdAt: at,
    ...more,
  },
});
const deleted: SpaceEvent = {
  type: 'SpaceDeleted',
  data: { ...ids, deletedBy: 'u1', deletedAt: at, purgeAfter: '2026-03-08T12:00:00.000Z' },
};
const move = (parent: string | null, order: string, within = 'o1'): SpaceCommand => ({
  type: 'MoveSpace',
  data: { parent, order, movedBy: 'u1', movedAt: at },
  within,
});
const moved = (parent: string | null, order: string, more: object = {}): SpaceEvent => ({
  type: 'SpaceMoved',
  data: { ...ids, parent, order, ...more, movedBy: 'u1', movedAt: at },
});
const transfer = (organizationId: string, ifIn?: string): SpaceCommand => ({
  type: 'TransferSpace',
  data: { organizationId, parent: ifIn ?? null, transferredBy: 'u1', transferredAt: at },
  ...(ifIn === undefined ? {} : { ifIn }),
});
const transferred = (parent: string | null): SpaceEvent => ({
  type: 'SpaceTransferred',
  data: {
    ...ids,
    organizationId: 'o2',
    from: 'o1',
    parent,
    order: 'k1',
    transferredBy: 'u1',
    transferredAt: at,
  },
});

describe('moving', () => {
  test('to another place', () =>
    spaces
      .given([created()])
      .when(move('c2', 'k2'))
      .thenEvents([moved('c2', 'k2')]));
  test('to where it is changes nothing', () => spaces.given([created()]).when(move('c1', 'k1')).thenNothing());
  test('not in another organization', () =>
    spaces
      .given([created()])
      .when(move('c2', 'k2', 'o2'))
      .thenRefuses('space.not_found'));
  test('not while it is deleted', () =>
    spaces.given([created(), deleted]).when(move('c2', 'k2')).thenRefuses('space.not_found'));
  test('out of a collection it cannot be visible as the collection is', () =>
    spaces
      .given([created({ visibility: 'in-collection' })])
      .when(move(null, 'k2'))
      .thenEvents([moved(null, 'k2', { visibility: 'private' })]));
});

describe('transferring', () => {
  test('by itself', () =>
    spaces
      .given([created()])
      .when(transfer('o2'))
      .thenEvents([transferred(null)]));
  test('with its collection, deleted or not', () => {
    spaces
      .given([created()])
      .when(transfer('o2', 'c1'))
      .thenEvents([transferred('c1')]);
    spaces
      .given([created(), deleted])
      .when(transfer('o2', 'c1'))
      .thenEvents([transferred('c1')]);
  });
  test('not when it left the collection', () => spaces.given([created()]).when(transfer('o2', 'c9')).thenNothing());
  test('not by itself when it is deleted', () =>
    spaces.given([created(), deleted]).when(transfer('o2')).thenRefuses('space.not_found'));
  test('to where it is changes nothing', () => spaces.given([created()]).when(transfer('o1')).thenNothing());
});

describe('restoring without the collection', () => {
  const restored: SpaceEvent = { type: 'SpaceRestored', data: { ...ids, restoredBy: 'u1', restoredAt: at } };
  const place: SpaceEvent = {
    type: 'SpaceMoved',
    data: { ...ids, parent: null, order: 'k9', movedBy: 'u1', movedAt: at },
  };
  const restore = (defaultLevel: 'read' | 'inherit' | null, from = 'c1'): SpaceCommand => ({
    type: 'RestoreSpace',
    data: { restoredBy: 'u1', restoredAt: at },
    instead: { from, order: 'k9', defaultLevel },
  });
  test('it keeps the default that it had through the collection', () =>
    spaces
      .given([created(), deleted])
      .when(restore(null))
      .thenEvents([
        restored,
        place,
        {
          type: 'SpaceSettingsChanged',
          data: { ...ids, settings: { defaultLevel: null }, changedBy: 'u1', changedAt: at },
        },
      ]));
  test('or its own one', () =>
    spaces
      .given([created({ defaultLevel: 'edit' }), deleted])
      .when(restore(null))
      .thenEvents([restored, place]));
  test('it stays where it is when that is another one', () =>
    spaces.given([created(), deleted]).when(restore(null, 'c2')).thenEvents([restored]));
});

describe('deleting with a collection', () => {
  const remove = (ifIn: string): SpaceCommand => ({
    type: 'DeleteSpace',
    data: { deletedBy: 'u1', deletedAt: at, purgeAfter: '2026-03-08T12:00:00.000Z' },
    ifIn,
  });
  test('what is in it', () => spaces.given([created()]).when(remove('c1')).thenEvents([deleted]));
  test('not what left it', () => spaces.given([created()]).when(remove('c2')).thenNothing());
});
