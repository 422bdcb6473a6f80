import assert from 'node:assert/strict';
import type { Decider, DomainCommand, DomainEvent } from '@bindery/event-sourcing';
import { isProblem } from '@bindery/service-kit';

interface Outcome<State, Event> {
  /** The command gives exactly these events. */
  thenEvents(events: readonly Event[]): void;
  /** The command changes nothing. */
  thenNothing(): void;
  /** The command is refused with a `Problem` of this code. */
  thenRefuses(code: string): void;
  /** For what an equality cannot say: looks at the events and the state after them. */
  thenState(check: (state: State, events: readonly Event[]) => void): void;
}

interface Given<State, Command, Event> {
  when(command: Command): Outcome<State, Event>;
  /** Looks at the state that the given events lead to. */
  thenState(check: (state: State) => void): void;
}

/**
 * Given past events, when a command, then new events (STYLE: Tests).
 *
 *     const space = specification(spaceDecider);
 *     space.given([created]).when(rename).thenEvents([renamed]);
 */
export const specification = <State, Command extends DomainCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
): { given(events: readonly Event[]): Given<State, Command, Event> } => {
  const fold = (state: State, events: readonly Event[]): State =>
    events.reduce<State>((before, event) => decider.evolve(before, event), state);

  return {
    given: (past) => {
      const state = fold(decider.initialState(), past);
      return {
        thenState: (check) => check(state),
        when: (command) => {
          const decide = (): readonly Event[] => decider.decide(command, state);
          return {
            thenEvents: (events) => assert.deepEqual(asStored(decide()), asStored(events)),
            thenNothing: () => assert.deepEqual(decide(), []),
            thenRefuses: (code) => assert.equal(refusalOf(decide), code),
            thenState: (check) => {
              const events = decide();
              check(fold(state, events), events);
            },
          };
        },
      };
    },
  };
};

/** Code of the problem; anything else that is thrown is a bug and is thrown on. */
const refusalOf = (decide: () => readonly DomainEvent[]): string => {
  let events: readonly DomainEvent[];
  try {
    events = decide();
  } catch (error) {
    if (isProblem(error)) return error.code;
    throw error;
  }
  return `nothing: it gave ${JSON.stringify(events.map(({ type }) => type))}`;
};

/** Events are compared in the form in which they are stored: a field that is undefined is a field that is absent. */
const asStored = (events: readonly DomainEvent[]): unknown => JSON.parse(JSON.stringify(events));
