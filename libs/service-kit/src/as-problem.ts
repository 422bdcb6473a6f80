import { isProblem, Problem } from './errors.ts';

const outage = /^[a-z_]+\.unavailable$/;

/** The stores and the bus report an outage by a code `<port>.unavailable`. */
const isStoreOutage = (error: unknown): error is Error & { readonly code: string } =>
  error instanceof Error && outage.test(String((error as { readonly code?: unknown }).code));

/**
 * Any failure as a `Problem`: stores that cannot be reached become `unavailable` (503), the unknown becomes `internal`
 * (500) with the request id and nothing of its own text, which may hold secrets. The failure itself is the cause.
 */
export function asProblem(error: unknown, requestId: string): Problem {
  if (isProblem(error)) return error;
  if (isStoreOutage(error)) {
    return new Problem('unavailable', error.code, 'A store cannot be reached at the moment.', {
      retryAfter: 1,
      cause: error,
    });
  }
  return new Problem('internal', 'internal', `Something went wrong on our side. Request id: ${requestId}`, {
    cause: error,
  });
}
