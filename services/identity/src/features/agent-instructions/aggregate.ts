import type { JSONDocument } from '@bindery/contracts';
import type { AggregateDefinition } from '@bindery/event-sourcing';
import { preconditionFailed } from '@bindery/service-kit';

/** Agents are told something else from now on. */
export interface AgentInstructionsUpdated {
  readonly type: 'AgentInstructionsUpdated';
  readonly data: {
    readonly organizationId: string;
    readonly instructions: JSONDocument;
    readonly updatedBy: string;
    readonly updatedAt: string;
    /** From 1: the ETag. */
    readonly version: number;
  };
}

export interface UpdateAgentInstructions {
  readonly type: 'UpdateAgentInstructions';
  readonly data: Omit<AgentInstructionsUpdated['data'], 'version'> & {
    /** Version that the caller saw, `*` for any. */
    readonly ifMatch?: string;
  };
}

/** 0: never written. */
export interface AgentInstructionsState {
  readonly version: number;
}

const decide = (
  command: UpdateAgentInstructions,
  state: AgentInstructionsState,
): readonly AgentInstructionsUpdated[] => {
  const { ifMatch, ...data } = command.data;
  if (ifMatch !== undefined && ifMatch !== '*' && ifMatch !== String(state.version))
    throw preconditionFailed('The instructions have changed since the version that If-Match names.');
  return [{ type: 'AgentInstructionsUpdated', data: { ...data, version: state.version + 1 } }];
};

/** Prefix of the streams, one per organization. */
export const agentInstructionsAggregateName = 'identity.agent_instructions';

/** The agent instructions of an organization. */
export const agentInstructionsAggregate: AggregateDefinition<
  AgentInstructionsState,
  UpdateAgentInstructions,
  AgentInstructionsUpdated
> = {
  name: agentInstructionsAggregateName,
  decider: {
    initialState: () => ({ version: 0 }),
    decide,
    evolve: (state, event) => (event.type === 'AgentInstructionsUpdated' ? { version: event.data.version } : state),
  },
};
