import type { Decider, DomainCommand, DomainEvent } from '@bindery/event-sourcing';
import { isProblem, type ProblemKind } from '@bindery/service-kit';
import { expect } from '@jest/globals';

/** Given past events, when a command comes, then new events, a refusal, or nothing (STYLE: Tests). */
export const specificationOf =
  <S, C extends DomainCommand, E extends DomainEvent>(decider: Decider<S, C, E>) =>
  (...given: readonly E[]) => {
    const state = given.reduce(decider.evolve, decider.initialState());
    return {
      when: (command: C) => ({
        thenEvents: (...events: readonly E[]) => expect(decider.decide(command, state)).toEqual(events),
        thenNothing: () => expect(decider.decide(command, state)).toEqual([]),
        thenRefused: (kind: ProblemKind, code: string) => {
          let refusal: unknown;
          try {
            decider.decide(command, state);
          } catch (error) {
            refusal = error;
          }
          expect(isProblem(refusal) && { kind: refusal.kind, code: refusal.code }).toEqual({ kind, code });
        },
      }),
      state,
    };
  };

/** A fixed time of tests. */
export const at = '2026-01-31T09:30:00.000Z';
/** An hour after {@link at}. */
export const later = '2026-01-31T10:30:00.000Z';
