import { join } from 'node:path';
import { openFilesystemBlobStore } from '@bindery/blob-store/filesystem';
import type { EventStore } from '@bindery/event-store';
import { FetchFailed } from '@bindery/guarded-fetch';
import { openSqliteSearchIndex } from '@bindery/search/sqlite';
import { createIdSource, createLateClient, isProblem, type OperationContext } from '@bindery/service-kit';
import { openTestPorts, quickTuning, type TestPorts, until } from '@bindery/testing/event-sourcing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createContentService } from '../../service.ts';
import { withMergeRules } from '../../testing.ts';
import { admin, insert } from './testing.ts';

/** The process dies after so many more appends: everything it tries to write after that fails. */
interface Fuse {
  left: number;
}

const fused = (store: EventStore, fuse: Fuse): EventStore => ({
  append: async (stream, events, expected) => {
    if (fuse.left <= 0) throw new Error('the process is dead');
    fuse.left -= 1;
    return store.append(stream, events, expected);
  },
  readStream: (stream, options) => store.readStream(stream, options),
  readAll: (options) => store.readAll(options),
  subscribe: (options) => store.subscribe(options),
  head: (prefixes) => store.head(prefixes),
  count: () => store.count(),
  close: () => store.close(),
});

/** One life of the service on the given stores. */
const live = async (ports: TestPorts, eventStore: EventStore, process = 'one') => {
  const blobStore = await openFilesystemBlobStore({ folder: join(ports.folder, 'blobs') });
  const searchIndex = await openSqliteSearchIndex({ path: join(ports.folder, `search-${process}.db`) });
  const service = createContentService({
    ports: { ...ports, eventStore },
    services: withMergeRules(createLateClient().client),
    blobStore,
    searchIndex,
    fetchGuard: async () => {
      throw new FetchFailed('blocked', 'no network in tests');
    },
    cursorSecret: 'a secret for tests only',
    tuning: quickTuning,
  });
  await service.start();
  const call = async (id: string, params: object, body?: unknown, seed?: string) => {
    const context: OperationContext = {
      principal: admin,
      requestId: 'r',
      now: ports.clock.now(),
      ids: createIdSource(seed),
      signal: AbortSignal.timeout(20_000),
      baseUrl: 'https://docs.example.org',
    };
    const answer = await service.handlers[id]?.(context, { params, query: {}, body });
    return answer?.body as Readonly<Record<string, unknown>> & { readonly id: string };
  };
  return {
    call,
    code: async (...request: Parameters<typeof call>) => {
      try {
        await call(...request);
        return 'done';
      } catch (error) {
        return isProblem(error) ? error.code : String(error);
      }
    },
    settled: () =>
      until('everything is handled', async () => {
        const { projections, reactors = [] } = await service.status();
        return [...projections, ...reactors].every(({ lag }) => lag === 0);
      }),
    async stop() {
      await service.stop();
      await searchIndex.close();
      await blobStore.close();
    },
  };
};

let ports: TestPorts | undefined;
afterEach(async () => {
  await ports?.remove();
  ports = undefined;
});

/** A space in which the given work is cut off after `appends` appends; then the next life. */
const afterCrash = async (
  appends: number,
  work: (life: Awaited<ReturnType<typeof live>>, spaceId: string, changeRequestId: string) => Promise<unknown>,
) => {
  ports = await openTestPorts();
  const fuse: Fuse = { left: Number.POSITIVE_INFINITY };
  const first = await live(ports, fused(ports.eventStore, fuse));
  const { id: spaceId } = await first.call('createSpace', { organizationId: 'o1' }, { empty: true });
  const { id } = await first.call('createChangeRequest', { spaceId });
  await first.call('updateChangeRequestContent', { spaceId, changeRequestId: id }, { changes: [insert('New')] });
  await first.settled();
  fuse.left = appends;
  await expect(work(first, spaceId, id)).rejects.toThrow('the process is dead');
  await first.stop();
  const second = await live(ports, ports.eventStore);
  await second.settled();
  const here = { spaceId, changeRequestId: id };
  return { life: second, spaceId, here, clock: ports.clock };
};

const eventTypes = async (stream: string): Promise<string[]> => {
  const types: string[] = [];
  for await (const event of ports?.eventStore.readStream(stream) ?? []) types.push(event.type);
  return types;
};

describe('opening a change request', () => {
  test('cut off after the number: a reactor opens it, and the numbers have no gap', async () => {
    const { life, spaceId } = await afterCrash(1, (first, space) =>
      first.call('createChangeRequest', { spaceId: space }, { subject: 'Cut off' }),
    );
    const second = { spaceId, changeRequestId: '2' };
    // The reactor of the first life may have put the stream aside when its store died under it.
    await until('it is opened', async () => (await life.code('getChangeRequestById', second)) === 'done');
    const found = await life.call('getChangeRequestById', second);
    expect(found).toMatchObject({ number: 2, subject: 'Cut off', status: 'open' });
    expect(await life.call('createChangeRequest', { spaceId })).toMatchObject({ number: 3 });
    await life.stop();
  });

  test('cut off and repeated with the same key: one change request', async () => {
    const { life, spaceId } = await afterCrash(1, (first, space) =>
      first.call('createChangeRequest', { spaceId: space }, { subject: 'Cut off' }, 'key'),
    );
    const repeated = await life.call('createChangeRequest', { spaceId }, { subject: 'Cut off' }, 'key');
    expect(repeated).toMatchObject({ number: 2, subject: 'Cut off' });
    expect(await life.call('createChangeRequest', { spaceId })).toMatchObject({ number: 3 });
    await life.stop();
  });
});

describe('merging', () => {
  const merge = (first: Awaited<ReturnType<typeof live>>, spaceId: string, changeRequestId: string) =>
    first.call('mergeChangeRequest', { spaceId, changeRequestId }, undefined, 'key of the merge');

  test('cut off before anything: nothing happened', async () => {
    const { life, here } = await afterCrash(0, merge);
    expect(await life.call('getChangeRequestById', here)).toMatchObject({ status: 'open' });
    expect(await life.call('mergeChangeRequest', here)).toMatchObject({ result: 'merge' });
    await life.stop();
  });

  test('cut off after it was begun: frozen for 30 s, then given up, in the space first', async () => {
    const { life, here, spaceId, clock } = await afterCrash(1, merge);
    expect(await life.code('updateChangeRequestContent', here, { changes: [insert('X')] })).toBe(
      'change_request.merging',
    );
    expect(await life.code('mergeChangeRequest', here)).toBe('change_request.merging');
    clock.advance(31_000);
    expect(await life.code('updateChangeRequestContent', here, { changes: [insert('X')] })).toBe('done');
    expect(await eventTypes(`content.space-${spaceId}`)).toContain('MergeAbandoned');
    expect(await eventTypes(`content.changeRequest-${here.changeRequestId}`)).toEqual([
      'ChangeRequestOpened',
      'ChangeRequestEdited',
      'ChangeRequestMergeStarted',
      'ChangeRequestMergeAbandoned',
      'ChangeRequestEdited',
    ]);
    expect(await life.call('mergeChangeRequest', here)).toMatchObject({ result: 'merge' });
    await life.stop();
  });

  test('cut off after it was begun and repeated with the same key: goes on', async () => {
    const { life, here } = await afterCrash(1, merge);
    const repeated = await merge(life, here.spaceId, here.changeRequestId);
    expect(repeated).toMatchObject({ result: 'merge' });
    expect(await merge(life, here.spaceId, here.changeRequestId)).toEqual(repeated);
    await life.stop();
  });

  test('cut off after the space has it: a reactor marks the change request', async () => {
    const { life, here, spaceId } = await afterCrash(2, merge);
    await until('it is marked', async () => (await life.call('getChangeRequestById', here)).status === 'merged');
    const found = await life.call('getChangeRequestById', here);
    expect(found).toMatchObject({ status: 'merged', mergedBy: admin.id });
    const space = await life.call('getSpaceById', { spaceId });
    expect(space).toMatchObject({ revision: found.revisionMerged, changeRequestsOpen: 0 });
    expect((await eventTypes(`content.space-${spaceId}`)).filter((type) => type === 'RevisionCommitted').length).toBe(
      2,
    );
    expect(await merge(life, spaceId, here.changeRequestId)).toEqual({
      revision: found.revisionMerged,
      result: 'merge',
    });
    await life.stop();
  });
});

test('two processes at once: no number twice, no merge lost', async () => {
  ports = await openTestPorts();
  const lives = [await live(ports, ports.eventStore), await live(ports, ports.eventStore, 'two')];
  const life = (index: number) => {
    const found = lives[index % 2];
    if (found === undefined) throw new Error('no such process');
    return found;
  };
  const { id: spaceId } = await life(0).call('createSpace', { organizationId: 'o1' }, { empty: true });
  const opened = await Promise.all(
    Array.from({ length: 12 }, (_, index) => life(index).call('createChangeRequest', { spaceId })),
  );
  expect(opened.map((it) => Number(it.number)).sort((a, b) => a - b)).toEqual(opened.map((_, index) => index + 1));
  // Both edit all of them, and both merge: whatever is decided on what is no longer true is decided again.
  const params = (id: string) => ({ spaceId, changeRequestId: id });
  await Promise.all(
    opened.flatMap(({ id, number }) =>
      [0, 1].map((index) =>
        life(index).call('updateChangeRequestContent', params(id), { changes: [insert(`Page ${number} ${index}`)] }),
      ),
    ),
  );
  const merged = await Promise.all(opened.map(({ id }, index) => life(index).call('mergeChangeRequest', params(id))));
  expect(merged.map(({ result }) => result)).toEqual(opened.map(() => 'merge'));
  const { pages } = (await life(1).call('listPages', { spaceId })) as unknown as { pages: { title: string }[] };
  expect(new Set(pages.map(({ title }) => title)).size).toBe(24);
  await Promise.all(lives.map((it) => it.stop()));
});

test('an edit whose answer was lost, repeated with the same key, is there once and answers the same pages', async () => {
  ports = await openTestPorts();
  const life = await live(ports, ports.eventStore);
  const { id: spaceId } = await life.call('createSpace', { organizationId: 'o1' }, { empty: true });
  const { id } = await life.call('createChangeRequest', { spaceId });
  const here = { spaceId, changeRequestId: id };
  const once = () => life.call('updateChangeRequestContent', here, { changes: [insert('P')] }, 'key of the edit');
  const first = await once();
  await life.call('updateChangeRequestContent', here, { changes: [insert('Q')] });
  const second = await once();
  expect(second.number).toBe(first.number);
  const { pages } = (await life.call('listPagesInChangeRequest', here)) as unknown as { pages: { title: string }[] };
  expect(pages.map(({ title }) => title)).toEqual(['P', 'Q']);
  await life.stop();
});

test('the space moves on under a merge that must be up to date: refused, and nothing stays frozen', async () => {
  ports = await openTestPorts();
  const { eventStore } = ports;
  let meanwhile: (() => Promise<unknown>) | undefined;
  const interrupted: EventStore = {
    ...fused(eventStore, { left: Number.POSITIVE_INFINITY }),
    async append(stream, events, expected) {
      const appended = await eventStore.append(stream, events, expected);
      if (events.some(({ type }) => type === 'ChangeRequestMergeStarted')) {
        const work = meanwhile;
        meanwhile = undefined;
        await work?.();
      }
      return appended;
    },
  };
  const first = await live(ports, interrupted);
  const second = await live(ports, eventStore, 'two');
  const { id: spaceId } = await first.call('createSpace', { organizationId: 'o1' }, { empty: true });
  const rules = [{ rule: 'require_up_to_date_change_request' }];
  await first.call('updateSpaceById', { spaceId }, { mergeRules: { type: 'rules', rules } });
  const opened = async (title: string) => {
    const { id: changeRequestId } = await first.call('createChangeRequest', { spaceId });
    await first.call('updateChangeRequestContent', { spaceId, changeRequestId }, { changes: [insert(title)] });
    return { spaceId, changeRequestId };
  };
  const [mine, other] = [await opened('Mine'), await opened('Other')];
  meanwhile = () => second.call('mergeChangeRequest', other);
  expect(await first.code('mergeChangeRequest', mine)).toBe('change_request.merge_rules');
  expect(await first.call('getChangeRequestById', other)).toMatchObject({ status: 'merged' });
  expect(await first.call('getChangeRequestById', mine)).toMatchObject({ status: 'open', outdated: true });
  expect(await first.call('updateChangeRequest', mine)).toMatchObject({ result: 'update' });
  expect(await first.call('mergeChangeRequest', mine)).toMatchObject({ result: 'merge' });
  await first.stop();
  await second.stop();
});

test('cut off between a review and its comment: a reactor posts it, once', async () => {
  const { life, here } = await afterCrash(1, (first, spaceId, changeRequestId) =>
    first.call(
      'submitChangeRequestReview',
      { spaceId, changeRequestId },
      { status: 'approved', comment: { markdown: 'Fine.' } },
    ),
  );
  await until('it is posted', async () => (await comments(life, here)).length > 0);
  await life.settled();
  expect(await comments(life, here)).toMatchObject([{ body: { markdown: 'Fine.' } }]);
  expect(await life.call('getReviewsByChangeRequestId', here)).toMatchObject({
    items: [{ status: 'approved', comment: { body: { markdown: 'Fine.' } } }],
  });
  await life.stop();
});

const comments = async (life: Awaited<ReturnType<typeof live>>, here: object): Promise<readonly unknown[]> => {
  const { items } = await life.call('listCommentsInChangeRequest', here);
  return [items].flat();
};
