import { hash } from 'node:crypto';
import type { AggregateDefinition } from '@bindery/event-sourcing';
import { SamlRefusal } from './refusal.ts';

/** An assertion was used. The stream is named for a hash of its id. */
export interface AssertionUsed {
  readonly type: 'SamlAssertionUsed';
  readonly data: {
    readonly providerId: string;
    readonly organizationId: string;
    /** The request that it answered. */
    readonly loginId: string;
    readonly usedAt: string;
  };
}

/** Uses an assertion; the second time it is refused. */
export interface UseAssertion {
  readonly type: 'UseSamlAssertion';
  readonly data: AssertionUsed['data'];
}

type UseState = { readonly used: boolean };

export const decideUse = (command: UseAssertion, state: UseState): readonly AssertionUsed[] => {
  if (state.used) throw new SamlRefusal('replay');
  return [{ type: 'SamlAssertionUsed', data: command.data }];
};

/** Id of the stream of an assertion; ids of assertions are unique within their provider. */
export const assertionKey = (providerId: string, assertionId: string): string =>
  hash('sha256', `${providerId}\n${assertionId}`, 'hex').slice(0, 48);

/** One stream per assertion: it counts once, whatever else is wrong with the rest (PITFALLS 59). */
export const samlAssertionAggregate: AggregateDefinition<UseState, UseAssertion, AssertionUsed> = {
  name: 'identity.samlAssertion',
  decider: { initialState: () => ({ used: false }), decide: decideUse, evolve: () => ({ used: true }) },
};
