import type { Position, RecordedEvent } from '@bindery/event-store';
import type { DomainEvent, Recorded } from '../decider.ts';
import { type ProjectionContext, type Step, storeSteps } from './context.ts';
import { foldEvents } from './folding.ts';
import type { Tracked } from './tracked.ts';

/** A part of the log: its events, and the position up to which it was looked at. */
export interface Page {
  readonly events: readonly RecordedEvent[];
  readonly position: Position;
}

/** An event that a projection, or the store on its behalf, refuses. */
export class ProjectionFailure extends Error {
  override readonly name = 'ProjectionFailure';
  constructor(projection: string, event: RecordedEvent | undefined, cause: unknown) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    const where = event === undefined ? '' : ` at ${event.type} (${event.stream}@${event.revision})`;
    super(`projection ${projection} fails${where}: ${reason}`, { cause });
  }
}

/** The events of a page that a projection still has to apply. */
const dueEvents = (context: ProjectionContext, tracked: Tracked, page: Page): readonly Recorded<DomainEvent>[] => {
  const due: Recorded<DomainEvent>[] = [];
  for (const event of page.events) {
    if (event.position <= tracked.position || !tracked.handles(event)) continue;
    // The command that appended it has written it.
    if (tracked.inline && (context.marks.peek(event.stream) ?? -1) >= event.revision) continue;
    due.push(context.aggregates.read(event));
  }
  return due;
};

const positionBefore = (page: Page, event: RecordedEvent, least: Position): Position => {
  let before = least;
  for (const { position } of page.events) if (position < event.position && position > before) before = position;
  return before;
};

/**
 * Applies a page to several projections and stores what comes of it in one batch. A projection that fails is brought up
 * to the event before the failure; the others are not affected.
 * @returns the projections that failed
 * @throws when the store is away
 */
export const applyPage = async (
  context: ProjectionContext,
  participants: readonly Tracked[],
  page: Page,
): Promise<ReadonlyMap<Tracked, ProjectionFailure>> => {
  const failures = new Map<Tracked, ProjectionFailure>();
  const steps: Step[] = [];
  for (const tracked of participants) {
    tracked.unsaved += page.events.length;
    const due = dueEvents(context, tracked, page);
    const { name } = tracked.projection;
    if (due.length === 0) {
      if (page.position > tracked.position) steps.push({ tracked, writes: [], position: page.position });
      continue;
    }
    const { writes, failure } = await foldEvents(tracked.projection, tracked.collections, due);
    if (failure === undefined) {
      steps.push({ tracked, writes, position: page.position });
      continue;
    }
    failures.set(tracked, new ProjectionFailure(name, failure.event, failure.error));
    steps.push({ tracked, writes, position: positionBefore(page, failure.event, tracked.position) });
  }
  for (const { tracked, error } of await storeSteps(context, steps))
    failures.set(tracked, new ProjectionFailure(tracked.projection.name, undefined, error));
  return failures;
};

/**
 * Applies a page to one projection, if need be event by event, so that the failure names the event and everything before
 * it is done.
 * @throws ProjectionFailure, or what says that the store is away
 */
export const applyPageAlone = async (context: ProjectionContext, tracked: Tracked, page: Page): Promise<void> => {
  const failure = (await applyPage(context, [tracked], page)).get(tracked);
  if (failure === undefined) return;
  for (const event of dueEvents(context, tracked, page)) {
    const alone = { events: [event], position: event.position };
    const cause = (await applyPage(context, [tracked], alone)).get(tracked);
    if (cause !== undefined) throw new ProjectionFailure(tracked.projection.name, event, cause.cause);
  }
  await applyPage(context, [tracked], { events: [], position: page.position });
};
