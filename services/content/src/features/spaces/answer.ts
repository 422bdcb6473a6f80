import type { Space } from '@bindery/contracts';
import type { Handled } from '@bindery/event-sourcing';
import { etagOf, notFound, type OperationContext, preconditionFailed } from '@bindery/service-kit';
import type { Lens } from '../access/index.ts';
import type { SpaceDocument } from '../space-model/index.ts';
import type { SpaceRouteDeps } from './deps.ts';
import type { SpaceEvent } from './events.ts';
import { presentSpace } from './present.ts';
import { evolveSpace } from './read-model/projection.ts';
import type { SpaceState } from './state.ts';

/** A space as it stands at a revision of its stream. */
export interface SpaceAt {
  readonly space: SpaceDocument;
  readonly streamRevision: number;
}

const noCounts = { open: 0, draft: 0, comments: 0, synced: false, imported: false };

/** The stream revision that `If-Match` asks for; undefined when it asks for none. @throws Problem precondition */
export const expectedRevision = (ifMatch: string | undefined): number | undefined => {
  if (ifMatch === undefined || ifMatch === '*') return undefined;
  if (!/^\d{1,15}$/.test(ifMatch)) throw preconditionFailed('If-Match: is not a tag of this space.');
  return Number(ifMatch);
};

/** What to answer about one space. */
export const answerSpace = async (
  deps: Pick<SpaceRouteDeps, 'access' | 'counts' | 'gitSync'>,
  context: OperationContext,
  { space, streamRevision }: SpaceAt,
): Promise<{ readonly body: Space; readonly etag: string; readonly imported: boolean }> => {
  const counts = await deps.counts.of(space.id);
  const { permissions } = await deps.access.describe(context, space);
  const git = counts.synced ? await deps.gitSync?.([space.id]) : undefined;
  return {
    body: presentSpace(context.baseUrl, space, counts, permissions, git?.get(space.id)),
    etag: etagOf(streamRevision),
    imported: counts.imported,
  };
};

/** What to answer about several spaces, in their order. @param lens what the caller sees of their organization */
export const presentSpaces = async (
  deps: Pick<SpaceRouteDeps, 'counts' | 'gitSync'>,
  context: OperationContext,
  lens: Pick<Lens, 'describe'>,
  spaces: readonly SpaceDocument[],
): Promise<Space[]> => {
  const ids = spaces.map(({ id }) => id);
  const counts = await deps.counts.ofMany(ids);
  const synced = ids.filter((_, index) => counts[index]?.synced);
  const git = synced.length > 0 ? await deps.gitSync?.(synced) : undefined;
  return spaces.map((space, index) =>
    presentSpace(
      context.baseUrl,
      space,
      counts[index] ?? noCounts,
      lens.describe(space).permissions,
      git?.get(space.id),
    ),
  );
};

/**
 * The space after a command. Folded from what was there and the new events, without asking the read store, which may be
 * away when the events are safe already (DESIGN section 10); read again only when others wrote in between.
 */
export const spaceAfter = async (
  deps: Pick<SpaceRouteDeps, 'spaces'>,
  before: SpaceAt | undefined,
  handled: Handled<SpaceState, SpaceEvent>,
  spaceId: string,
): Promise<SpaceAt> => {
  if (handled.events.length > 0 && handled.revision === (before?.streamRevision ?? -1) + handled.events.length) {
    let space: SpaceDocument | undefined = before?.space;
    for (const event of handled.events) space = evolveSpace(space, event) ?? undefined;
    if (space !== undefined) return { space, streamRevision: handled.revision };
  }
  const stored = await deps.spaces.get(spaceId);
  if (stored === undefined) throw notFound('space');
  return { space: stored.document, streamRevision: stored.revision };
};
