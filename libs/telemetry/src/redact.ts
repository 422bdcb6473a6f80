/** What stands in a log line in place of a secret or personal value. */
export const REDACTED = '[redacted]';

/** Deeper values are cut: a log line is no dump of a data structure. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
const MAX_TEXT = 8192;

/** Compared without case, `-` and `_`, so that `x-api-key`, `apiKey` and `API_KEY` are the same name. */
const exact = new Set(
  [
    'cookie',
    'setCookie',
    'email',
    'displayName',
    'certificate',
    'jwt',
    'signature',
    'samlResponse',
    'masterKey',
    'masterKeyPrevious',
    'instanceKey',
    'photoUrl',
  ].map((name) => name.toLowerCase()),
);
const parts = ['authorization', 'apikey', 'token', 'secret', 'password', 'passphrase', 'privatekey', 'credential'];
/** Names that contain one of the parts and yet say nothing secret. */
const harmless = new Set(['tokenid', 'tokens', 'tokencount']);

const names = new Map<string, boolean>();
const isSecret = (name: string): boolean => {
  const known = names.get(name);
  if (known !== undefined) return known;
  const plain = name.toLowerCase().replaceAll(/[-_]/g, '');
  const secret = !harmless.has(plain) && (exact.has(plain) || parts.some((part) => plain.includes(part)));
  if (names.size < 1000) names.set(name, secret);
  return secret;
};

const errorFields = (error: Error, depth: number): Record<string, unknown> => ({
  type: error.name,
  message: error.message,
  ...('code' in error ? { code: error.code } : {}),
  ...(error.stack === undefined ? {} : { stack: error.stack }),
  ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
});

/**
 * A copy that may be logged: fields whose name speaks of a secret or of personal data are replaced, at any depth
 * (PITFALLS 61); errors become objects; cycles, depth and length are cut.
 */
export const redact = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function' || typeof value === 'symbol') return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[…]';
  if (value instanceof Error) return errorFields(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((item) => redact(item, depth + 1));
  const entries = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(entries.map(([name, item]) => [name, isSecret(name) ? REDACTED : redact(item, depth + 1)]));
};
