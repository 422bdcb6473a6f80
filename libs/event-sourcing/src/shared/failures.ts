import { Problem } from '@bindery/service-kit';

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && (error as Error & { readonly code?: unknown }).code === code;

/** Failures of the ports, known by code rather than class: they may come from another copy of a package. */
export const isWrongRevision = (error: unknown): boolean => hasCode(error, 'event_store.wrong_expected_revision');
export const isEventStoreDown = (error: unknown): boolean => hasCode(error, 'event_store.unavailable');
export const isAppendTooLarge = (error: unknown): boolean => hasCode(error, 'event_store.append_too_large');
export const isCacheDown = (error: unknown): boolean => hasCode(error, 'cache.unavailable');
/** The id that an append found taken, if that is what the error says. */
export const takenIdOf = (error: unknown): string | undefined =>
  hasCode(error, 'event_store.event_id_taken') ? String(Object(error).eventId) : undefined;
/** One of the stores, the bus or the cache cannot be reached: worth waiting for, and nobody's bug. */
export const isUnavailable = (error: unknown): boolean =>
  isEventStoreDown(error) ||
  isCacheDown(error) ||
  hasCode(error, 'read_store.unavailable') ||
  hasCode(error, 'message_bus.unavailable');

/** The lease of the work was lost in the middle of it. */
export const isLeaseLost = (error: unknown): boolean => hasCode(error, 'lease.lost');

/** Text of a failure for logs, status and park records. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : String(error);

/** 503 for a service that has not started or has stopped. */
export const notRunning = (service: string): Problem =>
  new Problem('unavailable', 'service.starting', `The ${service} service is starting; try again in a moment.`, {
    retryAfter: 1,
  });

/** 503 for commands while the event store is away or too many wait. */
export const writesUnavailable = (code: string, message: string, cause?: unknown): Problem =>
  new Problem('unavailable', code, message, { retryAfter: 2, cause });
