export { type AllowEntry, mayConnect, parseAllowEntry } from './addresses.ts';
export { FetchFailed, type FetchFailureReason, isFetchFailed } from './errors.ts';
export type { FetchRequest } from './exchange.ts';
export {
  createGuardedFetch,
  type Fetched,
  type FetchLimits,
  type GuardedFetch,
  type GuardedFetchOptions,
} from './guarded-fetch.ts';
