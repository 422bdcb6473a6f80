export { type Contract, createContract, type OperationChecks, type PartCheck } from './contract.ts';
export { type EmbedPlan, type EmbedVisitor, replaceEmbeds } from './embeds.ts';
export { guardJson, guardText } from './guard.ts';
export { maxViolations, sentence, type Violation } from './violation.ts';
