import { documentPerStream, type LiveCollection, type Projection } from '@bindery/event-sourcing';
import type { CollectionSpec } from '@bindery/read-store';
import { type AgentInstructionsUpdated, agentInstructionsAggregateName } from './aggregate.ts';

export interface AgentInstructionsDocument {
  /** The document as JSON text: foreign keys do not survive as stored objects everywhere (PITFALLS 44). */
  readonly instructions: string;
  readonly updatedBy: string;
  readonly updatedAt: string;
  readonly version: number;
}

/** Instructions by organization. */
export const agentInstructionsCollection: CollectionSpec = {
  name: 'identity.agent-instructions',
  version: 1,
  indexes: [],
};

export const agentInstructionsProjection: Projection = documentPerStream<
  AgentInstructionsUpdated,
  AgentInstructionsDocument
>({
  name: 'agent-instructions',
  aggregate: agentInstructionsAggregateName,
  collection: agentInstructionsCollection,
  handles: ['AgentInstructionsUpdated'],
  evolve: (_before, { data: { instructions, updatedBy, updatedAt, version } }) => ({
    instructions: JSON.stringify(instructions),
    updatedBy,
    updatedAt,
    version,
  }),
});

export const openAgentInstructions = (live: LiveCollection) =>
  live<AgentInstructionsDocument>(agentInstructionsCollection);
export type LiveAgentInstructions = () => ReturnType<typeof openAgentInstructions>;
