import { join } from 'node:path';
import { openFilesystemBlobStore } from '@bindery/blob-store/filesystem';
import type { SearchIndex } from '@bindery/search';
import { openSqliteSearchIndex } from '@bindery/search/sqlite';
import { createLateClient } from '@bindery/service-kit';
import { quickTuning, until } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ContentService, createContentService } from '../../service.ts';
import { member, openSpace, publish, startContent, type TestContent } from '../../testing.ts';

const admin = member('admin');

describe('search in several replicas', () => {
  let content: TestContent;
  let other: ContentService;
  let otherIndex: SearchIndex;
  let space: string;

  const anotherReplica = async (index: SearchIndex): Promise<ContentService> =>
    createContentService({
      ports: content.ports,
      services: createLateClient().client,
      blobStore: await openFilesystemBlobStore({ folder: join(content.ports.folder, 'blobs') }),
      searchIndex: index,
      fetchGuard: () => Promise.reject(new Error('nothing is fetched')),
      cursorSecret: 'a secret for tests only',
      searchWatchMs: 20,
      tuning: quickTuning,
    });
  const found = async (index: SearchIndex): Promise<number> =>
    (await index.search({ query: 'dispatcher', spaces: [space], limit: 10 })).length;

  beforeAll(async () => {
    content = await startContent({ searchWatchMs: 20 });
    space = await openSpace(content, admin, { title: 'Searched' });
    await publish(content, admin, space, [
      { operation: 'insert_page', title: 'One', document: { markdown: 'The dispatcher.' } },
    ]);
    otherIndex = await openSqliteSearchIndex({ path: join(content.ports.folder, 'other.db') });
    other = await anotherReplica(otherIndex);
  });
  afterAll(async () => {
    await other.stop();
    await otherIndex.close();
    await content.stop();
  });

  test('a replica is ready when its index is fed', async () => {
    expect(other.notReady()).toContain('the search index is being fed');
    await other.start();
    expect(other.notReady()).toEqual([]);
    expect(await found(otherIndex)).toBe(1);
  });

  test('a rebuild that one replica is told of reaches the index of every other', async () => {
    // Something that only feeding anew repairs.
    await otherIndex.apply([{ kind: 'remove-space', spaceId: space }]);
    await content.index.apply([{ kind: 'remove-space', spaceId: space }]);
    expect(await found(otherIndex)).toBe(0);
    await content.service.rebuild(['search']);
    expect(await found(content.index)).toBe(1);
    await until('the other index has it too', async () => (await found(otherIndex)) === 1);
  });

  test('an index that was fed from read models that are gone is fed anew', async () => {
    await other.stop();
    const position = await otherIndex.position();
    expect(position).toMatch(/^\d+ \w+$/);
    await otherIndex.apply([{ kind: 'remove-space', spaceId: space }], `${position?.split(' ')[0]} gone`);
    other = await anotherReplica(otherIndex);
    await other.start();
    expect(await found(otherIndex)).toBe(1);
  });
});
