import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type OperationDefinition, operations } from '@bindery/contracts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/** A call that a client made, as far as coverage and conformance need it. */
export interface Recorder {
  /** Given to a client as its service binding: the ordinary `fetch`, looked at. */
  readonly fetch: typeof fetch;
  /** Ids of the operations that were answered with success. */
  readonly called: ReadonlySet<string>;
  /** Answers that the client's own description does not allow, in words. */
  readonly complaints: readonly string[];
  /** How many answers were compared with the client's own description. */
  readonly compared: number;
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The clients, the one that is asked first in front: the older one describes what the newer does not know. */
const packages = ['@gitbook/api', 'gitbook-api-146'] as const;

/**
 * The OpenAPI document that the package of the client carries. It puts types together with `allOf`, with which its
 * own `additionalProperties: false` and `oneOf` of overlapping parts cannot be met; they are relaxed.
 */
const clientDocument = (name: string): Described => {
  const entry = createRequire(import.meta.url).resolve(name);
  const text = readFileSync(new URL('../spec/openapi.json', pathToFileURL(entry)), 'utf8');
  return JSON.parse(text.replaceAll('"oneOf":', '"anyOf":'), (key, value: unknown) => {
    if (key === 'additionalProperties' && value === false) return undefined;
    if (typeof value !== 'object' || value === null || !('nullable' in value)) return value;
    // What OpenAPI 3.0 calls nullable, in the words of JSON Schema.
    const { nullable, ...schema } = value;
    return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema;
  }) as Described;
};

const shapeOf = (path: string): string => path.replaceAll(/\{[^}]+\}/g, '{}');

/** Finds the declared operation of a call; fixed segments win over parameters. */
const matcher = (): ((method: string, path: string) => OperationDefinition | undefined) => {
  const all: readonly OperationDefinition[] = Object.values(operations);
  const known = all
    .filter(({ surface }) => surface === 'public')
    .map((definition) => ({
      definition,
      parameters: definition.path.split('{').length,
      pattern: new RegExp(`^${definition.path.replaceAll(/\{\w+\*\}/g, '.+').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }))
    .sort((a, b) => a.parameters - b.parameters);
  return (method, path) =>
    known.find(({ definition, pattern }) => definition.method === method && pattern.test(path))?.definition;
};

/** Where what is right differs from the client's description. */
const accepted = new Set([
  // A provider is made before the other side is known; there is no address that would be true.
  'createOrganizationSAMLProvider: /ssoURL must match format "uri" {"format":"uri"}',
]);

/** Notes which operations were called with success, and holds JSON answers against the client's own description. */
export const createRecorder = (): Recorder => {
  const called = new Set<string>();
  const complaints: string[] = [];
  const find = matcher();
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  const clients = packages.map((name) => {
    const document = clientDocument(name);
    ajv.addSchema(document, name);
    return { name, templates: new Map(Object.keys(document.paths).map((path) => [shapeOf(path), path])) };
  });
  const validators = new Map<string, ValidateFunction | undefined>();
  let compared = 0;

  const validatorFor = ({ id, path, method }: OperationDefinition, status: number): ValidateFunction | undefined => {
    const key = `${id} ${status}`;
    if (validators.has(key)) return validators.get(key);
    const part = (name: string): string => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
    const shape = shapeOf(path.replaceAll('*}', '}'));
    const places = clients.flatMap(({ name, templates }) => {
      const template = templates.get(shape);
      const at = `${name}#/paths/${part(template ?? '')}/${method.toLowerCase()}/responses/${status}`;
      return template === undefined || ajv.getSchema(at) === undefined ? [] : [at];
    });
    const [place] = places;
    const validate =
      place === undefined
        ? undefined
        : (ajv.getSchema(`${place}/content/${part('application/json')}/schema`) as ValidateFunction | undefined);
    validators.set(key, validate);
    return validate;
  };

  const look = async (method: string, url: URL, response: Response): Promise<void> => {
    const operation = find(method, url.pathname.replace(/^\/v1/, ''));
    if (operation === undefined) throw new Error(`no declared operation is ${method} ${url.pathname}`);
    called.add(operation.id);
    const text = await response.text();
    if (text === '') return;
    const validate = validatorFor(operation, response.status);
    if (validate === undefined) return;
    compared += 1;
    if (validate(JSON.parse(text))) return;
    for (const { instancePath, message, params } of validate.errors ?? []) {
      const complaint = `${operation.id}: ${instancePath} ${message} ${JSON.stringify(params)}`;
      if (!accepted.has(complaint)) complaints.push(complaint);
    }
  };

  return {
    called,
    complaints,
    get compared() {
      return compared;
    },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      const address = input instanceof Request ? input.url : input;
      const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
      if (response.ok) await look(method, new URL(address), response.clone());
      return response;
    },
  };
};
