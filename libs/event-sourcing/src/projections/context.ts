import type { EventStore, Position } from '@bindery/event-store';
import type { Collection, CollectionSpec, ReadStore } from '@bindery/read-store';
import type { Clock } from '@bindery/service-kit';
import type { Telemetry } from '@bindery/telemetry';
import type { Aggregates } from '../aggregates.ts';
import type { Instruments } from '../instruments.ts';
import type { Bell } from '../shared/bell.ts';
import { isUnavailable } from '../shared/failures.ts';
import type { Gate } from '../shared/gate.ts';
import type { Lru } from '../shared/lru.ts';
import type { RuntimeTuning } from '../tuning.ts';
import type { BatchWrite } from './folding.ts';
import type { Tracked } from './tracked.ts';

export interface CheckpointDocument {
  readonly projection: string;
  readonly generation: number;
  readonly position: Position;
}

/** Where projections are, one document per projection and generation. */
export const checkpointsSpec = (service: string): CollectionSpec => ({
  name: `${service}.checkpoints`,
  version: 1,
  indexes: [],
});

export const checkpointId = (projection: string, generation: number): string => `${projection}#${generation}`;

/** What the parts that write projections share. */
export interface ProjectionContext {
  readonly service: string;
  readonly eventStore: EventStore;
  readonly readStore: ReadStore;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly aggregates: Aggregates;
  readonly instruments: Instruments;
  readonly tuning: RuntimeTuning;
  /** Streams of this service. */
  readonly prefixes: readonly string[];
  readonly tracked: readonly Tracked[];
  /** Rings when one of them moves, and when somebody begins to wait for that. */
  readonly moves: Bell;
  /** Passed by whoever applies events, closed at the end of a rebuild. */
  readonly gate: Gate;
  /** Revision up to which this process has written all inline documents of a stream; what is unknown is looked up. */
  readonly marks: Lru<number>;
  /** Streams with an append or its projection under way in this process. */
  readonly inFlight: Map<string, Promise<void>>;
  readonly checkpoints: Collection<CheckpointDocument>;
}

/** A projection's writes and the position that they bring it to. */
export interface Step {
  readonly tracked: Tracked;
  readonly writes: readonly BatchWrite[];
  readonly position: Position;
}

/** The write of a projection's checkpoint; guarded like any other, so it never goes back. */
export const checkpointWrite = (context: ProjectionContext, tracked: Tracked, position: Position): BatchWrite => {
  const { generation, projection } = tracked;
  const document: CheckpointDocument = { projection: projection.name, generation, position };
  return {
    collection: context.checkpoints as Collection<unknown>,
    write: { kind: 'put', id: checkpointId(projection.name, generation), revision: position, document },
  };
};

/** Stores steps together, each with its checkpoint, and advances their projections. */
const storeTogether = async (context: ProjectionContext, steps: readonly Step[]): Promise<void> => {
  const batch: BatchWrite[] = [];
  // Last of all, as the port wants it: an engine that cannot store a batch as one must not have a checkpoint before a write.
  const checkpoints: BatchWrite[] = [];
  const saved: Step[] = [];
  for (const step of steps) {
    const { tracked, writes, position } = step;
    batch.push(...writes);
    const due = writes.length > 0 || tracked.unsaved >= context.tuning.checkpointEvents;
    if (!due || position <= tracked.saved) continue;
    checkpoints.push(checkpointWrite(context, tracked, position));
    saved.push(step);
  }
  if (batch.length + checkpoints.length > 0) await context.readStore.batch([...batch, ...checkpoints]);
  for (const { tracked, position } of saved) {
    tracked.saved = position;
    tracked.unsaved = 0;
  }
  for (const { tracked, position } of steps) tracked.advance(position);
};

/**
 * Stores steps: together if the store takes them, else one by one, so that one projection's refused write (a unique
 * index) does not hold up the others.
 * @returns the refused ones
 * @throws when the store is away
 */
export const storeSteps = async (
  context: ProjectionContext,
  steps: readonly Step[],
): Promise<readonly { readonly tracked: Tracked; readonly error: unknown }[]> => {
  if (steps.length === 0) return [];
  try {
    await storeTogether(context, steps);
    return [];
  } catch (error) {
    if (isUnavailable(error)) throw error;
    const [only] = steps;
    if (steps.length === 1 && only !== undefined) return [{ tracked: only.tracked, error }];
  }
  const refused: { tracked: Tracked; error: unknown }[] = [];
  for (const step of steps) refused.push(...(await storeSteps(context, [step])));
  return refused;
};
