import { createServiceRuntime, streamOf } from '@bindery/event-sourcing';
import { openTestPorts, quickTuning } from '@bindery/testing/event-sourcing';
import { expect, test } from '@jest/globals';
import { createRevisionReader, createTreeCache, documentsProjection, revisionsProjection } from '../revisions/index.ts';
import { spaceAggregate } from '../spaces/index.ts';
import { changeRequestAggregate } from './aggregate.ts';
import { openChangeRequests } from './read-model/lookup.ts';
import { changeRequestsProjection } from './read-model/projection.ts';
import { revisionSources } from './revision-sources.ts';
import { serviceMetadata } from './service-metadata.ts';
import { createStaleMerges } from './stale-merges.ts';

test('merges that were left are settled when they are overdue, and only then', async () => {
  const ports = await openTestPorts();
  const trees = createTreeCache();
  const runtime = createServiceRuntime({
    service: 'content',
    ports,
    projections: [changeRequestsProjection, revisionsProjection(revisionSources), documentsProjection(revisionSources)],
    publicMapping: () => [],
    validatePublic: () => undefined,
    tuning: quickTuning,
  });
  const spaceRepository = runtime.repository(spaceAggregate);
  const repository = runtime.repository(changeRequestAggregate);
  await runtime.start();
  const at = ports.clock.now().toISOString();
  const meta = (cause: string) => serviceMetadata(cause, 'o1', ports.clock.now());
  const common = { createdBy: 'u1', createdAt: at };
  await spaceRepository.handle(
    's1',
    {
      type: 'CreateSpace',
      data: {
        ...{ spaceId: 's1', organizationId: 'o1', title: 'T', visibility: 'private', defaultLevel: 'inherit' },
        mergeRules: { type: 'inherit' },
        revisionId: 'r0',
        parts: [],
        ...common,
      },
    },
    meta('space'),
  );
  const opened = async (id: string) => {
    const data = { changeRequestId: id, subject: 'S', status: 'open', ...common } as const;
    const numbered = await spaceRepository.handle('s1', { type: 'NumberChangeRequest', data }, meta(`number ${id}`));
    const fact = numbered.events.find((event) => event.type === 'ChangeRequestNumbered');
    if (fact?.type !== 'ChangeRequestNumbered') throw new Error('no number');
    await repository.handle(id, { type: 'OpenChangeRequest', data: fact.data }, meta(`open ${id}`));
    const facts = { rules: [], primary: 'r0', mayReview: new Map() };
    const merge = { mergeId: `m-${id}`, revisionId: 'r0', startedBy: 'u1', startedAt: at, facts };
    await repository.handle(id, { type: 'StartMerge', data: merge }, meta(`start ${id}`));
  };
  await opened('left');
  await opened('committed');
  const mergedFrom = { changeRequestId: 'committed', revisionId: 'r0' };
  await spaceRepository.handle(
    's1',
    {
      type: 'CommitRevision',
      data: { revisionId: 'm-committed', revisionType: 'merge', parents: ['r0'], parts: [], mergedFrom, ...common },
    },
    meta('commit'),
  );

  const stale = createStaleMerges({
    repository,
    spaceRepository,
    reader: createRevisionReader({ live: runtime.live, trees }),
    counts: { changed: async () => undefined },
    changeRequests: openChangeRequests(runtime.live),
    clock: ports.clock,
    logger: ports.telemetry.logger,
  });
  const { signal } = new AbortController();
  expect(await stale.run(signal)).toBe(0);
  ports.clock.advance(31_000);
  expect(await stale.run(signal)).toBe(2);
  expect(await stale.run(signal)).toBe(0);
  expect((await repository.load('left')).state).toMatchObject({ status: 'open' });
  expect((await repository.load('left')).state).not.toHaveProperty('merging');
  expect((await repository.load('committed')).state).toMatchObject({ status: 'merged' });
  const types: string[] = [];
  for await (const event of ports.eventStore.readStream(streamOf(spaceAggregate, 's1'))) types.push(event.type);
  expect(types.filter((type) => type === 'MergeAbandoned').length).toBe(1);
  await runtime.stop();
  await ports.remove();
});
