import type { ErrorObject } from 'ajv';

const maxShownWords = 20;
const maxShownText = 60;

const shorten = (text: string): string => (text.length > maxShownText ? `${text.slice(0, maxShownText)}…` : text);

/** Some values as words, at most 20 of them. */
export function listWords(values: readonly unknown[]): string {
  const shown = values.slice(0, maxShownWords).map((value) => shorten(JSON.stringify(value) ?? 'undefined'));
  return values.length > shown.length
    ? `${shown.join(', ')} and ${values.length - shown.length} more`
    : shown.join(', ');
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

/** A JSON type in words. */
export const typeName = (type: string): string => typeNames[type] ?? type;

const formatNames: Readonly<Record<string, string>> = {
  'date-time': 'a date and time as in 2026-01-31T12:00:00Z',
  date: 'a date as in 2026-01-31',
  uri: 'an absolute URL',
  email: 'an email address',
  uuid: 'a UUID',
};

/** The rule that a value must have a type, in words. */
export const ruleOfType = (type: string): string => `must be ${typeName(type)}`;

type Params = Readonly<Record<string, unknown>>;
const counted = (limit: unknown, noun: string): string => `${String(limit)} ${noun}${limit === 1 ? '' : 's'}`;

const rules: Readonly<Record<string, (params: Params) => string>> = {
  required: () => 'is required',
  additionalProperties: () => 'is not a field that is known here',
  unevaluatedProperties: () => 'is not a field that is known here',
  propertyNames: () => 'has a name that is not allowed here',
  type: ({ type }) =>
    `must be ${(Array.isArray(type) ? type : [type]).map((name) => typeName(String(name))).join(' or ')}`,
  maxLength: ({ limit }) => `must be at most ${counted(limit, 'character')} long`,
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must be at least ${counted(limit, 'character')} long`,
  pattern: ({ pattern }) => `must match ${shorten(String(pattern))}`,
  format: ({ format }) => `must be ${formatNames[String(format)] ?? `of the format ${String(format)}`}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${String(limit)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${String(limit)}`,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${String(multipleOf)}`,
  maxItems: ({ limit }) => `must have at most ${counted(limit, 'item')}`,
  minItems: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${counted(limit, 'item')}`),
  uniqueItems: ({ i, j }) => `must not repeat an item (${String(j)} and ${String(i)} are equal)`,
  contains: () => 'lacks an item that is required',
  maxProperties: ({ limit }) => `must have at most ${counted(limit, 'field')}`,
  minProperties: ({ limit }) => `must have at least ${counted(limit, 'field')}`,
  const: ({ allowedValue }) => `must be ${listWords([allowedValue])}`,
  enum: ({ allowedValues }) => `must be one of ${listWords(Array.isArray(allowedValues) ? allowedValues : [])}`,
  not: () => 'has a value that is not allowed here',
  'false schema': () => 'is not allowed here',
  anyOf: () => 'fits none of the allowed forms',
  oneOf: () => 'must fit exactly one of the allowed forms',
};

/** The rule that an error stands for, in words. */
export function ruleOf(error: ErrorObject): string {
  const words = rules[error.keyword];
  return words ? words(error.params) : `breaks the rule "${error.keyword}"`;
}

/** The field that an error is about: `body.changes[3].title`. */
export function fieldName(at: string, error: ErrorObject): string {
  const params: Params = error.params;
  const own = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName;
  const tag = error.keyword === 'discriminator' ? params.tag : undefined;
  const base = pointerToField(at, error.instancePath);
  const last = own ?? tag;
  return typeof last === 'string' ? `${base}.${shorten(last)}` : base;
}

function pointerToField(at: string, pointer: string): string {
  if (pointer === '') return at;
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce((field, step) => (/^\d+$/.test(step) ? `${field}[${step}]` : `${field}.${shorten(step)}`), at);
}
