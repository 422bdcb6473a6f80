import type { Reactor } from '@bindery/event-sourcing';
import type { MergeDeps } from '../deps.ts';
import { completeMerges } from './complete-merges.ts';
import { openNumbered } from './open-numbered.ts';

/**
 * What finishes processes over two streams after a crash. Their commands carry the time of the event they react to, so
 * that it makes no difference when that is.
 * @param deps asked for when the first event comes
 */
export const changeRequestReactors = (deps: () => MergeDeps): readonly Reactor[] => [
  openNumbered(deps),
  completeMerges(deps),
];
