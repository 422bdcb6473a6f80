import { createHash } from 'node:crypto';
import { limits } from '@bindery/contracts';
import { type CommandMetadata, deriveEventId } from '@bindery/event-sourcing';
import { topLevel } from '../space-model/index.ts';
import { documentsWhere, type SpaceRepository, type SpacesCollection } from '../spaces/index.ts';
import type { Collections } from './read-model/source.ts';

const retentionMs = limits.space.retentionDays * 24 * 60 * 60 * 1000;
/** Spaces that are written at the same time. */
const parallel = 16;
/** Spaces of one collection that are looked at in one sweep. */
const maxSwept = 100_000;

export interface StrayDeps {
  readonly spaces: SpacesCollection;
  readonly spaceRepository: SpaceRepository;
  readonly collections: Collections;
}

/** Who ended a collection, and when. */
export interface Cause {
  readonly by: string;
  readonly at: string;
  readonly metadata: (step: string) => CommandMetadata;
}

/** Metadata of the commands that one cause has, each with a step of its own: repeating them writes nothing twice. */
export const metadataOf =
  (cause: string, by: CommandMetadata['actor'], now: Date, correlationId?: string) =>
  (step: string, organizationId?: string): CommandMetadata => {
    let count = 0;
    return {
      correlationId: correlationId ?? createHash('sha256').update(cause).digest('hex').slice(0, 32),
      causationId: cause,
      actor: by,
      ...(organizationId === undefined ? {} : { organizationId }),
      now,
      eventId: () => {
        count += 1;
        return deriveEventId(cause, `${step}/${count}`);
      },
    };
  };

/** Runs work on all of them, some at a time; the first failure ends it. */
const each = async <T>(items: AsyncIterable<T>, work: (item: T) => Promise<unknown>): Promise<void> => {
  let running: Promise<unknown>[] = [];
  for await (const item of items) {
    running.push(work(item));
    if (running.length >= parallel) {
      await Promise.all(running);
      running = [];
    }
  }
  await Promise.all(running);
};

/** Deletes the spaces in collections that were deleted. May run twice, and beside itself. */
export const deleteSpacesIn = async (
  { spaces, spaceRepository }: Pick<StrayDeps, 'spaces' | 'spaceRepository'>,
  organizationId: string,
  collectionIds: readonly string[],
  cause: Cause,
): Promise<void> => {
  const purgeAfter = new Date(Date.parse(cause.at) + retentionMs).toISOString();
  for (const place of collectionIds)
    await each(documentsWhere(spaces, { organizationId, deleted: false, place }, maxSwept), ({ id }) =>
      spaceRepository.handle(
        id,
        { type: 'DeleteSpace', data: { deletedBy: cause.by, deletedAt: cause.at, purgeAfter }, ifIn: place },
        cause.metadata(`delete/${place}/${id}`),
      ),
    );
};

/** Takes the spaces in collections that were sent to another organization there, deleted ones too. */
export const transferSpacesIn = async (
  { spaces, spaceRepository }: Pick<StrayDeps, 'spaces' | 'spaceRepository'>,
  { from, to }: { readonly from: string; readonly to: string },
  collectionIds: readonly string[],
  cause: Cause,
): Promise<void> => {
  for (const place of collectionIds)
    for (const deleted of [false, true])
      await each(documentsWhere(spaces, { organizationId: from, deleted, place }, maxSwept), ({ id }) =>
        spaceRepository.handle(
          id,
          {
            type: 'TransferSpace',
            data: { organizationId: to, parent: place, transferredBy: cause.by, transferredAt: cause.at },
            ifIn: place,
          },
          cause.metadata(`transfer/${place}/${id}`),
        ),
      );
};

/**
 * Looks after a space that has just been put into a collection: when the collection was deleted or sent elsewhere at the
 * same moment, what happened to it happens to the space.
 * @returns false when the space is not there any more
 */
export const settleStray = async (
  deps: StrayDeps,
  space: { readonly id: string; readonly organizationId: string; readonly place: string },
  cause: Cause,
): Promise<boolean> => {
  const { id, organizationId, place } = space;
  if (place === topLevel || (await deps.collections.tree(organizationId)).get(place)?.status === 'active') return true;
  const now = await deps.collections.find(place);
  if (now?.organizationId === organizationId) return true;
  if (now === undefined) await deleteSpacesIn(deps, organizationId, [place], cause);
  else
    await deps.spaceRepository.handle(
      id,
      {
        type: 'TransferSpace',
        data: {
          organizationId: now.organizationId,
          parent: place,
          transferredBy: cause.by,
          transferredAt: cause.at,
        },
        ifIn: place,
      },
      cause.metadata(`transfer/${place}/${id}`),
    );
  return false;
};
