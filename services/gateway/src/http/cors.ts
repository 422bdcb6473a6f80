/** Any site may call the API: it is authorized by a token, never by a cookie, so there are no credentials to protect. */
const exposed = [
  'ETag',
  'Location',
  'Retry-After',
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Idempotent-Replayed',
  'Preference-Applied',
  'WWW-Authenticate',
  'Allow',
].join(', ');

/** On every answer, failures included. */
export const corsHeaders = { 'access-control-allow-origin': '*' } as const;

/** Also on answers to other origins: what their scripts may read. */
export const exposedHeaders = { 'access-control-expose-headers': exposed } as const;

const allowed = [
  'Authorization',
  'Content-Type',
  'Accept',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Prefer',
  'X-Request-Id',
  'Traceparent',
  'User-Agent',
].join(', ');

/** Answer of a preflight. */
export const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': allowed,
  'access-control-max-age': '86400',
  vary: 'Access-Control-Request-Headers',
} as const;
