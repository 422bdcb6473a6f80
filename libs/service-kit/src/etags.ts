import { preconditionFailed } from './errors.ts';

/** The version of a resource as it stands in an `ETag`, without quotes. @param revision stream revision */
export const etagOf = (revision: number): string => String(revision);

/**
 * Refuses a change of a version that the caller has not seen. Without `If-Match`, or with `*`, everything passes.
 * @throws Problem 412
 */
export function requireIfMatch(request: { readonly ifMatch?: string }, currentEtag: string): void {
  const { ifMatch } = request;
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === currentEtag) return;
  throw preconditionFailed('If-Match: the resource has changed since; read it again and repeat the change.');
}
