import { componentPointer } from '../kit/components.ts';
import { limits } from '../limits.ts';

/** Request headers, named once in the document. */
export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A text of your choice, unique per intended change. A repeat with the same key and request gets the same answer and changes nothing; another request with the same key gets 409.',
    schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKey.maxLength },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'The `ETag` of the version you have seen. When the resource has changed since, the answer is 412.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'An `ETag` you have. When the answer would be the same, it is 304 without a body.',
    schema: { type: 'string' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    required: false,
    description: '`return=minimal` answers 204 without a body instead of the resource.',
    schema: { type: 'string', enum: ['return=minimal', 'return=representation'] },
  },
} as const;

/** Response headers, named once in the document. */
export const headers = {
  ETag: { description: 'Version of the resource.', schema: { type: 'string' } },
  Location: { description: 'Address of the new resource.', schema: { type: 'string', format: 'uri' } },
  RequestId: { description: 'Id of the request, for reports.', schema: { type: 'string' } },
  RateLimitLimit: { description: 'Requests that a token may make at once.', schema: { type: 'integer' } },
  RateLimitRemaining: { description: 'Requests that are left now.', schema: { type: 'integer' } },
  RateLimitReset: { description: 'Seconds until all of them are back.', schema: { type: 'integer' } },
  RetryAfter: { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
  IdempotentReplayed: {
    description: '`true` when this is the kept answer of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
  PreferenceApplied: { description: 'The preference that was honoured.', schema: { type: 'string' } },
} as const;

/** A pointer to one of `headers`. */
export const header = (name: keyof typeof headers): { readonly $ref: string } => ({
  $ref: `#/components/headers/${name}`,
});

const meanings: Readonly<Record<number, string>> = {
  400: 'The request breaks a rule. The message names the field and the rule.',
  401: 'No valid token.',
  403: 'The caller may see this but not do it.',
  404: 'It does not exist, or the caller may not see it.',
  409: 'It does not fit the state of the resource.',
  412: 'The resource has changed since the version in `If-Match`.',
  413: 'The body is too large.',
  415: 'The body is not JSON in UTF-8.',
  429: 'Too many requests. `Retry-After` says when to go on.',
  500: 'A mistake on our side. Quote the request id when you report it.',
  503: 'Not possible at the moment. `Retry-After` says when to try again.',
};
const fallback = 'The request was refused.';

/** What an error status means. */
export const meaningOf = (status: number): string => meanings[status] ?? fallback;

const failure = (status: number) => ({
  description: meaningOf(status),
  headers: {
    'X-Request-Id': header('RequestId'),
    ...((status === 429 || status === 503) && { 'Retry-After': header('RetryAfter') }),
  },
  content: { 'application/json': { schema: { $ref: componentPointer('Error') } } },
});

/** Error answers by status, named once in the document. */
export const responses: Readonly<Record<string, unknown>> = Object.fromEntries(
  Object.keys(meanings).map((status) => [`Error${status}`, failure(Number(status))]),
);

/** The error answer of a status: a pointer where it is a common one. */
export const failureOf = (status: number): unknown =>
  meanings[status] === undefined ? failure(status) : { $ref: `#/components/responses/Error${status}` };
