import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection, ReadStore } from '@bindery/read-store';
import { openSqliteReadStore } from '@bindery/read-store/sqlite';
import { createCursorCodec } from '@bindery/service-kit';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { member } from '../../testing.ts';
import { createAccess } from '../access/index.ts';
import { CollectionTree, type SpaceDocument, spacesCollection, topLevel } from '../space-model/index.ts';
import { listVisibleChangeRequests } from './list-visible.ts';
import { type ChangeRequestDocument, changeRequestsCollection } from './read-model/document.ts';

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const cursors = createCursorCodec('a secret for tests only');
const common = { status: { in: ['open'] } };

const spaceOf = (index: number): SpaceDocument => ({
  ...{ id: `s${index}`, organizationId: index % 11 === 5 ? 'o2' : 'o1', title: 'T', visibility: 'public' },
  ...{ defaultLevel: 'inherit', mergeRules: { type: 'inherit' }, revision: `r${index}`, changeRequests: 1 },
  ...{ createdBy: 'u', createdAt: at(0), updatedAt: at(0), place: topLevel, order: `a${index}` },
  deleted: index % 7 === 3,
  audience: index % 5 === 0 ? 'closed' : 'inherit',
  ...(index % 13 === 1 ? { received: true as const } : {}),
});
/** Of every other space; what came from elsewhere is filed there, or here when it had been here before. Many at one moment. */
const changeRequestOf = (index: number): ChangeRequestDocument => ({
  ...{ id: `c${(index * 7919) % 100_000}`, spaceId: `s${index}`, number: 1, status: 'open', subject: 'S' },
  organizationId: index % 26 === 14 ? 'o3' : 'o1',
  ...{ createdBy: 'u', createdAt: at(index % 40), updatedAt: at(index % 40) },
  ...{ revision: 'r', revisionInitial: 'r', contributors: ['u'], contributions: [], requestedReviewers: [] },
});

let folder: string;
let store: ReadStore;
let spaces: Collection<SpaceDocument>;
let changeRequests: Collection<ChangeRequestDocument>;

const fill = async (from: number, to: number): Promise<void> => {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  const opened = numbers.filter((index) => index % 2 === 0 || index % 13 === 1).map(changeRequestOf);
  const put = <T extends { readonly id: string }>(document: T) =>
    ({ kind: 'put', id: document.id, revision: 0, document }) as const;
  await store.batch([
    ...numbers.map((index) => ({ collection: spaces, write: put(spaceOf(index)) })),
    ...opened.map((document) => ({ collection: changeRequests, write: put(document) })),
  ]);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'list-visible-'));
  store = await openSqliteReadStore({ path: join(folder, 'read.db') });
  spaces = await store.collection(spacesCollection);
  changeRequests = await store.collection(changeRequestsCollection);
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

/** As an administrator or a member sees it, without collections and grants. */
const seenBy = (who: 'all' | 'member') => {
  const grants = { highest: async () => null, all: async () => new Map() };
  const collections = { tree: async () => new CollectionTree('o1', []), find: async () => undefined };
  const principal = member(who === 'all' ? 'admin' : 'read');
  return createAccess({ spaces, grants, collections }).visibleSpaces({ principal }, 'o1');
};

/** What the list is to be, by reading everything. */
const expected = async (who: 'all' | 'member'): Promise<string[]> => {
  const visible = await seenBy(who);
  const found: ChangeRequestDocument[] = [];
  const byId = new Map<string, SpaceDocument>();
  for await (const { id, document } of spaces.scan()) byId.set(id, document);
  for await (const { document } of changeRequests.scan()) {
    const space = byId.get(document.spaceId);
    if (space === undefined || !visible.sees(space)) continue;
    if (document.organizationId === 'o1' || space.received === true) found.push(document);
  }
  const key = ({ updatedAt, id }: ChangeRequestDocument) => `${updatedAt} ${id}`;
  return found.sort((a, b) => (key(a) > key(b) ? -1 : 1)).map(({ id }) => id);
};

const pageOf = async (
  who: 'all' | 'member',
  request: { readonly limit?: number; readonly page?: string; readonly space?: string },
) =>
  listVisibleChangeRequests({ spaces, changeRequests, cursors }, await seenBy(who), common, {
    list: 'l',
    ...request,
  });

const everything = async (who: 'all' | 'member', limit: number) => {
  const ids: string[] = [];
  const counts = new Set<number | undefined>();
  for (let page: string | undefined, pages = 0; pages === 0 || page !== undefined; pages += 1) {
    const answer = await pageOf(who, { limit, ...(page === undefined ? {} : { page }) });
    for (const { document } of answer.items)
      expect(answer.heads.get(document.spaceId)).toBe(document.spaceId.replace('s', 'r'));
    ids.push(...answer.items.map(({ id }) => id));
    counts.add(answer.count);
    page = answer.next?.page;
  }
  return { ids, counts: [...counts] };
};

describe('the change requests of an organization, page by page', () => {
  test('are each there once, in order: with few spaces, by naming them', async () => {
    await fill(0, 300);
    for (const who of ['all', 'member'] as const) {
      const all = await expected(who);
      expect(all.length).toBeGreaterThan(50);
      for (const limit of [7, 1000]) expect(await everything(who, limit)).toEqual({ ids: all, counts: [all.length] });
    }
  });

  test('with many spaces, by passing over those that are hidden; counted when nothing else is asked', async () => {
    await fill(300, 1700);
    for (const who of ['all', 'member'] as const) {
      const all = await expected(who);
      for (const limit of [33, 400]) {
        const { ids, counts } = await everything(who, limit);
        expect(ids).toEqual(all);
        expect(counts).toEqual([undefined]);
      }
      expect(await everything(who, 1000)).toEqual({ ids: all, counts: [all.length] });
      expect(await pageOf(who, { limit: 0 })).toMatchObject({ items: [], count: all.length });
    }
  });

  test('of one space only, when it is visible', async () => {
    expect(await pageOf('member', { space: 's2' })).toMatchObject({
      count: 1,
      items: [{ document: { spaceId: 's2' } }],
    });
    expect((await pageOf('all', { space: 's10' })).items).toEqual([]);
    for (const hidden of ['s0', 's10', 's16', 'nothing'])
      expect(await pageOf('member', { space: hidden })).toMatchObject({ count: 0, items: [] });
  });
});
