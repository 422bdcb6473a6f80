import { createRequire } from 'node:module';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { Refused, type SpecificationError } from './types.ts';

/** Versions that are read; a document's declaration begins with one of these. */
const versions = ['2.0', '3.0', '3.1', '3.2'] as const;
type Version = (typeof versions)[number];

const load = createRequire(import.meta.url);
/** Not imported: how its default export is typed depends on who compiles. It takes and gives the same as `Ajv2020`. */
const AjvDraft04: typeof Ajv2020 = load('ajv-draft-04').default;
const validators = new Map<Version, ValidateFunction>();

const validatorOf = (version: Version): ValidateFunction => {
  const known = validators.get(version);
  if (known !== undefined) return known;
  // The schemas of the OpenAPI Initiative, as this package ships them; its own validation resolves references as well,
  // in ways that a hostile document can use.
  const schema = load(`@seriousme/openapi-schema-validator/schemas/v${version}/schema.json`);
  const options = { strict: false, logger: false } as const;
  const ajv = version === '2.0' || version === '3.0' ? new AjvDraft04(options) : new Ajv2020(options);
  formats.default(ajv);
  ajv.addFormat('media-range', true);
  const made = ajv.compile(schema);
  validators.set(version, made);
  return made;
};

/** @throws Refused when it declares none that is read */
const declaredVersion = (value: unknown): { readonly version: Version; readonly declared: string } => {
  const { openapi, swagger } = Object(value) as { readonly openapi?: unknown; readonly swagger?: unknown };
  const declared = openapi ?? swagger;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || declared === undefined)
    throw new Refused({
      code: 'not-openapi',
      message: 'The document is no OpenAPI specification: it has neither a field openapi nor a field swagger.',
    });
  if (typeof declared !== 'string')
    throw new Refused({ code: 'not-openapi', message: 'The version of OpenAPI is not a text: put it in quotes.' });
  const version = versions.find((it) => declared === it || declared.startsWith(`${it}.`));
  if (version === undefined || (version === '2.0') !== (openapi === undefined))
    throw new Refused({
      code: 'not-openapi',
      message: `OpenAPI ${declared.slice(0, 20)} is not read; Swagger 2.0 and OpenAPI 3.0, 3.1 and 3.2 are.`,
    });
  return { version, declared: declared.slice(0, 20) };
};

const messageOf = ({ instancePath, message = 'is not valid', params, keyword }: ErrorObject): string => {
  const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  const name = (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') && typeof extra === 'string';
  const at = instancePath === '' ? '/' : instancePath;
  return `${at} ${name ? `has a field ${JSON.stringify(extra)} that is not allowed` : message}`.slice(0, 500);
};

/** The errors that say most: deepest first, without those of alternatives that were not meant. */
const tell = (errors: readonly ErrorObject[], max: number): readonly SpecificationError[] => {
  const isNoise = ({ keyword, params }: ErrorObject): boolean =>
    ['oneOf', 'anyOf', 'if', 'not'].includes(keyword) || params.missingProperty === '$ref';
  const telling = errors.filter((error) => !isNoise(error));
  const depth = ({ instancePath }: ErrorObject): number => instancePath.split('/').length;
  const sorted = (telling.length > 0 ? telling : errors).toSorted((a, b) => depth(b) - depth(a));
  const messages = [...new Set(sorted.slice(0, 1000).map(messageOf))];
  return messages.slice(0, max).map((message) => ({ code: 'schema', message }));
};

/**
 * Checks a tree against the schema of the version that it declares.
 * @returns the version
 * @throws Refused
 */
export const validate = (value: unknown, maxErrors: number): string => {
  const { version, declared } = declaredVersion(value);
  const check = validatorOf(version);
  if (!check(value)) throw new Refused(...tell(check.errors ?? [], maxErrors));
  return declared;
};
