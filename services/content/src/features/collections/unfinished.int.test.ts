import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Directory, identityOf, principalOf, startContent, type TestContent } from '../../testing.ts';
import type { CollectionEvent } from './events.ts';

const directory: Directory = {
  o1: { boss: { role: 'admin', teams: [] } },
  o2: { boss: { role: 'admin', teams: [] } },
};
const boss = principalOf(directory, 'boss');
const at = '2026-03-01T12:00:00.000Z';
let content: TestContent;

beforeAll(async () => {
  content = await startContent({ services: identityOf(directory, []) });
});
afterAll(() => content.stop());

const newCollection = async (): Promise<string> =>
  (await content.call('createCollection', boss, { params: { organizationId: 'o1' } })).body.id;
const newSpace = async (parent: string): Promise<string> => {
  const body = { empty: true, parent };
  return (await content.call('createSpace', boss, { params: { organizationId: 'o1' }, body })).body.id;
};

/** The first event of what a request does, as if the process had ended right after it. */
const begin = async ({ type, data }: CollectionEvent): Promise<void> => {
  const stream = 'content.collections-o1';
  let last = -1;
  for await (const { revision } of content.ports.eventStore.readStream(stream)) last = revision;
  const id = crypto.randomUUID();
  const metadata = {
    correlationId: 'request-1',
    causationId: 'request-1',
    actor: { kind: 'user' as const, id: 'boss' },
    organizationId: 'o1',
    schemaVersion: 1,
    time: at,
  };
  await content.ports.eventStore.append(stream, [{ id, type, data, metadata }], last);
};

test('a deletion that was begun is finished', async () => {
  const collectionId = await newCollection();
  const spaceId = await newSpace(collectionId);
  await begin({
    type: 'CollectionDeleted',
    data: {
      organizationId: 'o1',
      collectionId,
      collections: [{ collectionId, lastDefault: 'inherit' }],
      deletedBy: 'boss',
      deletedAt: at,
    },
  });
  await content.settled();
  const { body } = await content.call('getSpaceById', boss, { params: { spaceId } });
  expect(body).toMatchObject({ id: spaceId, deletedAt: at });
});

test('a transfer that was begun is finished', async () => {
  const collectionId = await newCollection();
  const spaceId = await newSpace(collectionId);
  const facts = { collectionId, title: 'Untitled', parent: null, defaultLevel: 'inherit' as const, order: 'k' };
  await begin({
    type: 'CollectionTransferStarted',
    data: {
      organizationId: 'o1',
      transferId: 't1',
      to: 'o2',
      collections: [facts],
      startedBy: 'boss',
      startedAt: at,
    },
  });
  await content.settled();
  const { body } = await content.call('getSpaceById', boss, { params: { spaceId } });
  expect(body).toMatchObject({ organization: 'o2', parent: collectionId });
  const found = await content.call('getCollectionById', boss, { params: { collectionId } });
  expect(found.body.organization).toBe('o2');
});
