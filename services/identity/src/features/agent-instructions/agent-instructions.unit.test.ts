import type { JSONDocument } from '@bindery/contracts';
import { test } from '@jest/globals';
import { at, specificationOf } from '../../testing.ts';
import { type AgentInstructionsUpdated, agentInstructionsAggregate } from './aggregate.ts';

const given = specificationOf(agentInstructionsAggregate.decider);
const instructions: JSONDocument = { object: 'document', data: {}, nodes: [] };
const written = (version: number): AgentInstructionsUpdated => ({
  type: 'AgentInstructionsUpdated',
  data: { organizationId: 'o1', instructions, updatedBy: 'u1', updatedAt: at, version },
});
const write = (ifMatch?: string) => ({
  type: 'UpdateAgentInstructions' as const,
  data: {
    ...{ organizationId: 'o1', instructions, updatedBy: 'u1', updatedAt: at },
    ...(ifMatch === undefined ? {} : { ifMatch }),
  },
});

test('instructions are replaced, version by version', () => {
  given().when(write()).thenEvents(written(1));
  given(written(1)).when(write('1')).thenEvents(written(2));
  given(written(1)).when(write('0')).thenRefused('precondition', 'precondition.failed');
});
