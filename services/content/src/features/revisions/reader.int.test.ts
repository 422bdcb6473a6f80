import { type CommandMetadata, createServiceRuntime } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { createIdSource } from '@bindery/service-kit';
import { openTestPorts, quickTuning, type TestPorts } from '@bindery/testing/event-sourcing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { revisionSources } from '../change-requests/index.ts';
import { spaceAggregate } from '../spaces/index.ts';
import { diffTrees } from './diff-trees.ts';
import type { RevisionChange } from './model.ts';
import { revisionsCollection, snapshotsCollection } from './read-models/collections.ts';
import { documentsProjection, revisionsProjection } from './read-models/revisions.ts';
import { loadStoredTree, type RevisionDocument, type TreeSource } from './read-models/stored-tree.ts';
import { createRevisionReader, createTreeCache } from './reader.ts';
import { splitRevision } from './split-revision.ts';
import { choices, editAtRandom, inserted, shown } from './testing.ts';
import { emptyTree, type RevisionTree } from './tree.ts';
import { applyChanges } from './tree-draft.ts';

let ports: TestPorts;
let runtime: ReturnType<typeof createServiceRuntime>;
let commit: (from: RevisionTree, to: RevisionTree, parent: string | undefined, id: string) => Promise<void>;
const { eventId } = createIdSource();
const metadata = (): CommandMetadata => ({
  correlationId: 'c',
  causationId: 'c',
  actor: { kind: 'user', id: 'u' },
  now: ports.clock.now(),
  eventId,
});
const common = { createdBy: 'u', createdAt: '2026-01-01T00:00:00.000Z' };
const history: { readonly id: string; readonly tree: RevisionTree }[] = [];
const document = { object: 'document' as const, data: {}, nodes: [] };

beforeAll(async () => {
  ports = await openTestPorts();
  runtime = createServiceRuntime({
    service: 'content',
    ports,
    projections: [revisionsProjection(revisionSources), documentsProjection(revisionSources)],
    publicMapping: () => [],
    validatePublic: () => undefined,
    tuning: quickTuning,
  });
  const spaces = runtime.repository(spaceAggregate);
  await runtime.start();
  commit = async (from, to, parent, revisionId) => {
    const parts = splitRevision({ changes: diffTrees(from, to), documents: [{ id: `d-${revisionId}`, document }] });
    if (parent === undefined) {
      const facts = { spaceId: 's1', organizationId: 'o1', title: 'T', visibility: 'private' } as const;
      const rules = { defaultLevel: 'inherit', mergeRules: { type: 'inherit' } } as const;
      const data = { ...facts, ...rules, ...common, revisionId, parts };
      await spaces.handle('s1', { type: 'CreateSpace', data }, metadata());
    } else {
      const data = { revisionId, revisionType: 'edits', parents: [parent], parts, ...common } as const;
      await spaces.handle('s1', { type: 'CommitRevision', data }, metadata());
    }
    history.push({ id: revisionId, tree: to });
  };
  const pages = Array.from(
    { length: 2100 },
    (_, index): RevisionChange => inserted(`p${index}`, index < 50 ? null : `p${index % 50}`),
  );
  let tree = applyChanges(emptyTree, pages);
  await commit(emptyTree, tree, undefined, 'r0');
  const choose = choices(7);
  for (let index = 1; index <= 70; index += 1) {
    const next = editAtRandom(tree, 1 + choose(2), choose, `e${index}x`);
    await commit(tree, next, `r${index - 1}`, `r${index}`);
    tree = next;
  }
});
afterAll(async () => {
  await runtime.stop();
  await ports.remove();
});

/** As text: comparing thousands of pages field by field is slow, and their order counts. */
const text = (tree: RevisionTree | undefined): string => JSON.stringify(shown(tree ?? emptyTree));
const coldReader = () => createRevisionReader({ live: runtime.live, trees: createTreeCache() });
const storedRevision = async (id: string) =>
  (await runtime.live<RevisionDocument>(revisionsCollection).get(id))?.document;
const source: TreeSource = {
  cached: () => undefined,
  async getMany<T>(collection: CollectionSpec, ids: readonly string[]) {
    const found = new Map<string, T>();
    for (let start = 0; start < ids.length; start += 1000) {
      const batch = await runtime.live<T>(collection).getMany(ids.slice(start, start + 1000));
      for (const [id, { document: value }] of batch) found.set(id, value);
    }
    return found;
  },
};

describe('revisions as stored', () => {
  test('are read back as they were made, with nothing in memory', async () => {
    for (const { id, tree } of history.filter((_, index) => index % 16 === 0 || index > 68)) {
      expect(text(await coldReader().tree('s1', id)) === text(tree)).toBe(true);
    }
  });

  test('have whole trees in between, in pieces, so that few steps are ever replayed', async () => {
    const chains = await Promise.all(history.map(async ({ id }) => (await storedRevision(id))?.chain));
    expect(Math.max(...chains.map((chain) => chain?.steps.length ?? 99))).toBeLessThan(50);
    const own = history.filter(({ id }, index) => chains[index]?.snapshot?.revision === id);
    expect(own.length).toBeGreaterThanOrEqual(2);
    const pieces = await runtime.live(snapshotsCollection).count();
    expect(pieces).toBeGreaterThanOrEqual(2 * own.length);
  });

  test('whole trees are only a cache: without them the same trees come', async () => {
    const revision = await storedRevision('r70');
    if (revision === undefined) throw new Error('r70 is not stored');
    const { chain: _, ...bare } = revision;
    const withoutSnapshots: TreeSource = {
      ...source,
      async getMany<T>(collection: CollectionSpec, ids: readonly string[]) {
        if (collection === snapshotsCollection) throw new Error('a whole tree was read');
        const found = await source.getMany<T>(collection, ids);
        if (collection !== revisionsCollection) return found;
        return new Map([...found].map(([id, value]) => [id, { ...value, chain: undefined } as T]));
      },
    };
    expect(text(await loadStoredTree(bare, withoutSnapshots)) === text(history[70]?.tree)).toBe(true);
  });

  test('of an older fold are not used', async () => {
    const revision = await storedRevision('r70');
    const snapshot = revision?.chain?.snapshot;
    if (revision?.chain === undefined || !snapshot) throw new Error('r70 has no whole tree behind it');
    const older = { ...revision, chain: { ...revision.chain, snapshot: { ...snapshot, fold: 0 } } };
    expect(text(await loadStoredTree(older, source)) === text(history[70]?.tree)).toBe(true);
  });

  test('share their parts with the neighbours that are in memory', async () => {
    const reader = coldReader();
    const before = await reader.tree('s1', 'r60');
    const after = await reader.tree('s1', 'r61');
    const page = [...before.walk()].find(
      ({ id }) => after.page(id) !== undefined && after.page(id) === before.page(id),
    );
    expect(page).toBeDefined();
    expect(diffTrees(before, after).length).toBeLessThanOrEqual(6);
  });

  test('are not there for another space, and their bodies neither', async () => {
    const reader = coldReader();
    await reader.tree('s1', 'r1');
    await expect(reader.tree('s2', 'r1')).rejects.toMatchObject({ code: 'revision.not_found' });
    await expect(coldReader().tree('s2', 'r1')).rejects.toMatchObject({ code: 'revision.not_found' });
    await expect(reader.tree('s1', 'nope')).rejects.toMatchObject({ code: 'revision.not_found' });
    expect(await reader.info('s2', 'r1')).toBeUndefined();
    expect(await reader.info('s1', 'r1')).toEqual({
      ...{ id: 'r1', spaceId: 's1', organizationId: 'o1', type: 'edits', parents: ['r0'] },
      ...common,
    });
    expect(await reader.documents('s1', ['d-r1', 'd-nope'])).toEqual(new Map([['d-r1', document]]));
    expect(await reader.documents('s2', ['d-r1'])).toEqual(new Map());
  });

  test('that are appended and not yet written are repaired and read', async () => {
    let stored = false;
    const repaired: string[] = [];
    const reader = createRevisionReader({
      trees: createTreeCache(),
      live: <T>(spec: CollectionSpec) => {
        const collection = runtime.live<T>(spec);
        return { ...collection, get: async (id) => (stored ? collection.get(id) : undefined) };
      },
      repair: async (spaceId, changeRequestId) => {
        repaired.push(`${spaceId} ${changeRequestId}`);
        stored = true;
      },
    });
    expect(text(await reader.tree('s1', 'r5', { changeRequestId: 'c1' })) === text(history[5]?.tree)).toBe(true);
    expect(repaired).toEqual(['s1 c1']);
  });

  test('whose bodies cannot be read are not taken for empty', async () => {
    const reader = coldReader();
    const appended = { changeRequestId: 'c1' };
    expect(await reader.bodies('s1', ['d-r1'], appended)).toEqual(new Map([['d-r1', document]]));
    await expect(reader.bodies('s1', ['d-r1', 'd-nope'], appended)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(reader.tree('s1', 'nope', appended)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
