export { completeErasureReactor } from './complete-erasure.ts';
export { createErasure, type Erasure } from './erasure.ts';
export { keepErasedOutReactor } from './keep-out.ts';
export { createErasureHandlers, createOwnErasureHandlers } from './routes.ts';
