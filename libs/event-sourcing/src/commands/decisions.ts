import type { EventData } from '@bindery/event-store';
import { preconditionFailed } from '@bindery/service-kit';
import type { Aggregates } from '../aggregates.ts';
import type { AggregateDefinition, DomainCommand, DomainEvent } from '../decider.ts';
import { commandEventId } from '../metadata.ts';
import type { CommandMetadata, Handled, Repository } from '../repository.ts';
import { asStored } from '../shared/json.ts';
import { revisionOfRecent, type Snapshot } from './snapshots.ts';

/** A command that waits for its turn. */
export interface Pending<State, Command extends DomainCommand, Event extends DomainEvent> {
  readonly command: Command | ((state: State, revision: number) => Command);
  readonly metadata: CommandMetadata;
  readonly options: NonNullable<Parameters<Repository<State, Command, Event>['handle']>[3]>;
  /** From `metadata.eventId`, once, so that every attempt makes the same ids. */
  readonly seed: string;
  readonly traceparent: string | undefined;
  readonly resolve: (handled: Handled<State, Event>) => void;
  readonly reject: (reason: unknown) => void;
}

/** What was decided about one command; true only if the append that it is part of succeeds. */
export type Decision<State, Event extends DomainEvent> =
  | { readonly kind: 'refused'; readonly reason: unknown }
  /** Its events are in the stream already, from this revision on. */
  | { readonly kind: 'repeated'; readonly from: number; readonly idAt: (index: number) => string }
  /** The stream exists although it must not: a repeat of long ago, or a conflict. */
  | { readonly kind: 'exists'; readonly idAt: (index: number) => string }
  | {
      readonly kind: 'decided';
      readonly state: State;
      readonly revision: number;
      readonly events: readonly (EventData & Event)[];
    };

export interface Plan<State, Event extends DomainEvent> {
  readonly decisions: readonly Decision<State, Event>[];
  /** Those of all commands, in order. */
  readonly events: readonly (EventData & Event)[];
  readonly state: State;
}

/** Sizes of one append: EventStoreDB takes a megabyte at most, and a fsync for that much is shared enough. */
const MAX_EVENTS = 500;
const MAX_BYTES = 256 * 1024;
/** What metadata and names of an event take up, about: they are encoded once, by the store. */
const BYTES_BESIDE_DATA = 500;

/**
 * Decides commands one after the other on the evolving state. Stops early when the append gets large; the commands that
 * have no decision yet wait for the next one.
 * @param taken revisions of events of these commands that are further back in the stream than the snapshot remembers
 */
export const decideAll = <State, Command extends DomainCommand, Event extends DomainEvent>(
  definition: AggregateDefinition<State, Command, Event>,
  aggregates: Aggregates,
  stream: string,
  snapshot: Snapshot<State>,
  commands: readonly Pending<State, Command, Event>[],
  taken: ReadonlyMap<string, number> = new Map(),
): Plan<State, Event> => {
  const decisions: Decision<State, Event>[] = [];
  const events: (EventData & Event)[] = [];
  const twins = new Map<string, Decision<State, Event>>();
  let { state, revision } = snapshot;
  let bytes = 0;
  for (const pending of commands) {
    if (decisions.length > 0 && (events.length >= MAX_EVENTS || bytes > MAX_BYTES)) break;
    const decision = decideOne(pending, state, revision);
    const twin = decisions.includes(decision);
    decisions.push(decision);
    if (twin || decision.kind !== 'decided' || decision.events.length === 0) continue;
    ({ state, revision } = decision);
    events.push(...decision.events);
    const [first] = decision.events;
    if (first !== undefined) twins.set(first.id, decision);
    if (commands.length > 1)
      for (const { data } of decision.events) bytes += JSON.stringify(data).length + BYTES_BESIDE_DATA;
  }
  return { decisions, events, state };

  function decideOne(pending: Pending<State, Command, Event>, before: State, at: number): Decision<State, Event> {
    try {
      const command = typeof pending.command === 'function' ? pending.command(before, at) : pending.command;
      const idAt = (index: number): string => commandEventId(pending.seed, stream, command.type, index);
      const first = idAt(0);
      const twin = twins.get(first);
      if (twin !== undefined) return twin;
      const known = taken.get(first) ?? revisionOfRecent(snapshot, first);
      if (known >= 0) return { kind: 'repeated', from: known, idAt };
      const { expectedRevision, create } = pending.options;
      if (create === true && at >= 0) return { kind: 'exists', idAt };
      if (expectedRevision !== undefined && expectedRevision !== at)
        throw preconditionFailed('The resource has changed since it was read; read it again and repeat the change.');
      const decided = definition.decider.decide(command, before).map(asStored);
      const after = decided.reduce<State>((folded, event) => definition.decider.evolve(folded, event), before);
      return {
        kind: 'decided',
        state: after,
        revision: at + decided.length,
        events: decided.map((event, index) => ({
          ...event,
          id: index === 0 ? first : idAt(index),
          metadata: metadataOf(pending, event.type),
        })),
      };
    } catch (reason) {
      return { kind: 'refused', reason };
    }
  }

  function metadataOf(pending: Pending<State, Command, Event>, type: string): EventData['metadata'] {
    const { correlationId, causationId, actor, tokenId, origin, organizationId, traceparent, now } = pending.metadata;
    const trace = pending.traceparent ?? traceparent;
    return {
      correlationId,
      causationId,
      actor,
      ...(tokenId === undefined ? {} : { tokenId }),
      ...(origin === undefined ? {} : { origin }),
      ...(organizationId === undefined ? {} : { organizationId }),
      ...(trace === undefined ? {} : { traceparent: trace }),
      schemaVersion: aggregates.schemaVersion(definition.name, type),
      time: now.toISOString(),
    };
  }
};
