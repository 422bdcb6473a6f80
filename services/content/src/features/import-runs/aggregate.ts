import type { AggregateDefinition, Repository } from '@bindery/event-sourcing';
import { type ImportRunCommand, importRunDecider } from './decider.ts';
import type { ImportRunEvent } from './events.ts';
import type { ImportRunState } from './state.ts';

/** Streams `content.importRun-<id>`. */
export const importRunAggregate: AggregateDefinition<ImportRunState, ImportRunCommand, ImportRunEvent> = {
  name: 'content.importRun',
  decider: importRunDecider,
};
export type ImportRunRepository = Repository<ImportRunState, ImportRunCommand, ImportRunEvent>;
