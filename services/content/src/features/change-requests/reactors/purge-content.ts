import { type DomainEvent, type Reactor, type Recorded, reactorMetadata } from '@bindery/event-sourcing';
import type { Scalar } from '@bindery/read-store';
import { isProblem } from '@bindery/service-kit';
import { type ContentRows, type PurgedContent, purgeBatches, type RevisionChange } from '../../revisions/index.ts';
import { type SpaceEvent, spaceAggregate } from '../../spaces/index.ts';
import type { MergeDeps } from '../deps.ts';
import type { ChangeRequestsCollection } from '../read-model/lookup.ts';

const name = 'purge-content';
/** Change requests, or pages with their links, that are removed at a time. */
const batch = 500;

/** What purging works with. */
export interface PurgeContentDeps extends Pick<MergeDeps, 'spaceRepository' | 'reader'>, ContentRows {
  readonly changeRequests: ChangeRequestsCollection;
}

/** Everything of a revision that links lead from or to, as if it were deleted. */
const deletedOf = async (
  { reader }: PurgeContentDeps,
  spaceId: string,
  head: string | null,
): Promise<readonly RevisionChange[]> => {
  try {
    const tree = await reader.tree(spaceId, head ?? '');
    return [
      // Those below before those above, so that each takes only itself along.
      ...[...tree.walk()].map(({ id }) => ({ kind: 'page_deleted', pageId: id }) as const).reverse(),
      ...[...tree.files()].map(({ id }) => ({ kind: 'file_deleted', fileId: id }) as const),
      ...[...tree.reusableContents()].map(({ id }) => ({ kind: 'reusable_content_deleted', contentId: id }) as const),
    ];
  } catch (error) {
    // Removed by an earlier try, after the links.
    if (isProblem(error) && (error.kind === 'not-found' || error.kind === 'unavailable')) return [];
    throw error;
  }
};

async function* changeRequestsOf({ changeRequests }: PurgeContentDeps, spaceId: string): AsyncGenerator<PurgedContent> {
  let after: readonly Scalar[] | undefined;
  for (;;) {
    const page = await changeRequests.query({
      where: { spaceId },
      orderBy: [{ field: 'number', direction: 'asc' }],
      limit: batch,
      ...(after ? { after } : {}),
    });
    if (page.length > 0) yield { spaceId, changeRequests: page.map(({ id }) => id) };
    const last = page.at(-1);
    if (last === undefined || page.length < batch) return;
    after = [last.document.number, last.id];
  }
}

/**
 * What is stored for reading of a space goes for good with it: links first, since they are found by the pages, then change
 * requests, documents and revisions. The events stay, those that say what goes among them, so that a rebuild ends with the
 * same.
 */
export const purgeContent = (deps: () => PurgeContentDeps): Reactor => ({
  name,
  aggregates: [spaceAggregate.name],
  handles: ['SpacePurged'],
  async react(event: Recorded<DomainEvent>) {
    const fact = event as unknown as SpaceEvent;
    if (fact.type !== 'SpacePurged') return;
    const { spaceId } = fact.data;
    const { spaceRepository } = deps();
    const clock = { now: () => new Date(event.metadata.time) };
    const purge = async (data: PurgedContent): Promise<void> => {
      // Named by where the stream is: what is left after a crash is another batch.
      const { revision } = await spaceRepository.load(spaceId);
      const metadata = reactorMetadata(event, name, clock, String(revision));
      await spaceRepository.handle(spaceId, { type: 'PurgeContent', data }, metadata);
    };
    const { state } = await spaceRepository.load(spaceId);
    const deleted = state.status === 'none' ? [] : await deletedOf(deps(), spaceId, state.head);
    for (let at = 0; at < deleted.length; at += batch) await purge({ spaceId, deleted: deleted.slice(at, at + batch) });
    for await (const data of changeRequestsOf(deps(), spaceId)) await purge(data);
    for await (const data of purgeBatches(deps(), spaceId)) await purge(data);
  },
});
