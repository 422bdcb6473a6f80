import { errorStatuses } from '../kit/error.ts';
import { copySchema, isRecord } from '../kit/json-schema.ts';
import type { OperationDefinition } from '../kit/operation.ts';
import { failureOf, header } from './shared.ts';

const plain = (schema: unknown): unknown =>
  copySchema(
    schema,
    (pointer) => pointer,
    (keyword) => keyword !== 'x-embed',
  );

/** The Operation Object of one operation. */
export function describeOperation(operation: OperationDefinition): Record<string, unknown> {
  const described: Record<string, unknown> = {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description !== undefined && { description: operation.description }),
    parameters: [
      ...parametersIn('path', operation.params),
      ...parametersIn('query', operation.query),
      ...headerParameters(operation),
    ],
    responses: answers(operation),
    ...(operation.access === 'anonymous' && { security: [] }),
  };
  if (operation.body) {
    described.requestBody = {
      required: operation.bodyOptional !== true,
      content: { 'application/json': { schema: plain(operation.body) } },
    };
  }
  return described;
}

function parametersIn(place: 'path' | 'query', schema: OperationDefinition['params']): unknown[] {
  if (!schema) return [];
  const needed = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, declared]) => {
    const copy = plain(declared);
    const { description, ...rest } = isRecord(copy) ? copy : {};
    return {
      name,
      in: place,
      required: place === 'path' || needed.has(name),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

function headerParameters(operation: OperationDefinition): unknown[] {
  const pointer = (name: string) => ({ $ref: `#/components/parameters/${name}` });
  const found: unknown[] = [];
  if (operation.method === 'POST') found.push(pointer('IdempotencyKey'));
  if (operation.ifMatch) found.push(pointer('IfMatch'));
  else if (operation.etag) found.push(pointer(operation.method === 'GET' ? 'IfNoneMatch' : 'IfMatch'));
  if (operation.minimal) found.push(pointer('Prefer'));
  return found;
}

function answers(operation: OperationDefinition): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [status, body] of Object.entries(operation.success)) {
    found[status] = success(operation, Number(status), body ? plain(body) : undefined);
  }
  if (operation.etag && operation.method === 'GET') found['304'] = { description: 'Nothing has changed.' };
  if (operation.minimal && !found['204']) {
    found['204'] = {
      description: 'Done; the caller asked for no body.',
      headers: { 'Preference-Applied': header('PreferenceApplied'), 'X-Request-Id': header('RequestId') },
    };
  }
  for (const status of errorStatuses(operation)) found[String(status)] = failureOf(status);
  return found;
}

const successText: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done; there is nothing to tell.',
  205: 'Done; what the caller shows of it is out of date.',
};

function success(operation: OperationDefinition, status: number, schema: unknown): Record<string, unknown> {
  const limited = operation.access !== 'anonymous';
  return {
    description: successText[status] ?? 'Done.',
    headers: {
      'X-Request-Id': header('RequestId'),
      ...(limited && {
        'X-RateLimit-Limit': header('RateLimitLimit'),
        'X-RateLimit-Remaining': header('RateLimitRemaining'),
        'X-RateLimit-Reset': header('RateLimitReset'),
      }),
      ...(operation.etag && { ETag: header('ETag') }),
      ...(operation.location && { Location: header('Location') }),
      ...(operation.method === 'POST' && { 'Idempotent-Replayed': header('IdempotentReplayed') }),
    },
    ...(schema !== undefined && { content: { 'application/json': { schema } } }),
  };
}
