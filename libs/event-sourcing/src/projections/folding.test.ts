import type { CollectionSpec } from '@bindery/read-store';
import { openTestPorts, type TestPorts } from '@bindery/testing/event-sourcing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DomainEvent, Projection, Recorded } from '../index.ts';
import { foldEvents } from './folding.ts';

const spec: CollectionSpec = { name: 'content.leaves', version: 1, indexes: [] };

/** One document per leaf; those of a tree go with an event of the tree. */
const leaves: Projection = {
  name: 'leaves',
  mode: 'inline',
  aggregates: ['content.leaf', 'content.tree'],
  handles: ['LeafGrown', 'TreeFelled'],
  collections: [spec],
  apply: ({ type, data, revision }) => {
    if (type === 'LeafGrown')
      return [{ collection: spec, write: { kind: 'put', id: 'leaf', revision, document: data } }];
    return [{ collection: spec, write: { kind: 'remove', id: 'leaf', revision: Number.MAX_SAFE_INTEGER } }];
  },
};

const eventOf = (stream: string, revision: number, type: string): Recorded<DomainEvent> => ({
  ...{ id: `${stream}@${revision}`, stream, revision, position: revision + 1, type, data: { revision } },
  metadata: {
    ...{ correlationId: 'c', causationId: 'c', schemaVersion: 1, time: '2026-03-01T12:00:00.000Z' },
    actor: { kind: 'user', id: 'u' },
  },
});
const grown = (revision: number): Recorded<DomainEvent> => eventOf('content.leaf-1', revision, 'LeafGrown');
const felled = eventOf('content.tree-1', 3, 'TreeFelled');

describe('a document that goes with an event of another stream', () => {
  let ports: TestPorts;

  /** What is stored after parts of the log that are applied one after the other. */
  const after = async (...parts: readonly (readonly Recorded<DomainEvent>[])[]): Promise<unknown> => {
    const collection = await ports.readStore.collection<unknown>(spec);
    for (const events of parts) {
      const { writes, failure } = await foldEvents(leaves, new Map([[spec.name, collection]]), events);
      expect(failure).toBeUndefined();
      await ports.readStore.batch(writes);
    }
    return (await collection.get('leaf'))?.document;
  };

  beforeEach(async () => {
    ports = await openTestPorts();
  });
  afterEach(() => ports.remove());

  test('goes, however many events its own stream has', async () => {
    expect(await after([grown(7)])).toEqual({ revision: 7 });
    expect(await after([felled])).toBeUndefined();
  });

  test('does not come back with a later event of its stream, whether applied together or not', async () => {
    expect(await after([grown(7), felled, grown(8)])).toBeUndefined();
    expect(await after([grown(9)], [felled, grown(10)])).toBeUndefined();
  });
});

test('an event of which it cannot be told what it reads fails alone, in its turn', async () => {
  const ports = await openTestPorts();
  const collection = await ports.readStore.collection<unknown>(spec);
  const careless: Projection = {
    ...leaves,
    reads: ({ revision }) => {
      if (revision === 2) throw new TypeError('unreadable');
      return [{ collection: spec, id: 'leaf' }];
    },
    apply: (event, reader) => {
      if (event.revision === 2) throw new TypeError('unreadable');
      return leaves.apply(event, reader);
    },
  };
  const events = [grown(0), grown(1), grown(2), grown(3)];
  const { writes, failure } = await foldEvents(careless, new Map([[spec.name, collection]]), events);
  expect(failure?.event.revision).toBe(2);
  expect(writes.map(({ write }) => write)).toMatchObject([{ id: 'leaf', revision: 1, document: { revision: 1 } }]);
  await ports.remove();
});
