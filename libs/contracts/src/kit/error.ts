import Type, { type Static } from 'typebox';
import { component } from './components.ts';
import type { OperationDefinition } from './operation.ts';
import { closed } from './schema.ts';

/** The body of every failure (gaps-filled section 2): `code` is the HTTP status, `message` is for people. */
export const ErrorBody = component(
  'Error',
  closed({ error: closed({ code: Type.Integer(), message: Type.String() }) }, { description: 'What went wrong.' }),
);
export type ErrorBody = Static<typeof ErrorBody>;

/**
 * The error statuses an operation may answer: those it declares and those that follow from its shape (see
 * `OperationDefinition.errors`). Ascending.
 */
export function errorStatuses(operation: OperationDefinition): readonly number[] {
  const statuses = new Set<number>([429, 500, 503, ...(operation.errors ?? [])]);
  if (operation.access !== 'anonymous') statuses.add(401);
  if (operation.access !== 'anonymous' && operation.access !== 'authenticated') statuses.add(403);
  if (operation.params || operation.query || operation.body) statuses.add(400);
  if (operation.params) statuses.add(404);
  if (operation.body) for (const status of [413, 415]) statuses.add(status);
  if (operation.method === 'POST') for (const status of [400, 409]) statuses.add(status); // Idempotency-Key
  if (operation.ifMatch || (operation.etag && operation.method !== 'GET')) statuses.add(412);
  return [...statuses].sort((a, b) => a - b);
}
