export { completeErasureReactor } from './complete-erasure.ts';
export { createErasure, type Erasure, type ErasureDeps } from './erasure.ts';
export { type KeepOutDeps, keepErasedOutReactor } from './keep-out.ts';
export { createErasureHandlers, createOwnErasureHandlers } from './routes.ts';
