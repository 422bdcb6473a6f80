export { createIndexChanges, type IndexChanges } from './changes.ts';
export { createSearchFeeder, type FeederDeps, type SearchFeeder } from './feeder.ts';
export { openSearchRebuilds, type SearchRebuilds } from './rebuilds.ts';
export { createSearchHandlers, type SearchRouteDeps } from './routes.ts';
