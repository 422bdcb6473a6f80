export { type AgentInstructionsUpdated, agentInstructionsAggregate } from './aggregate.ts';
export { agentInstructionsProjection, openAgentInstructions } from './read-model.ts';
export { agentInstructionRoutes } from './routes.ts';
