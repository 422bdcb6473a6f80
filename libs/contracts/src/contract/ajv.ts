import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { JsonSchema } from '../kit/json-schema.ts';
import { copySchema, isRecord, keywordsOf } from '../kit/json-schema.ts';

/** Name under which the whole contract is known to the validator. */
export const rootId = 'bindery:contract';

const componentPrefix = '#/components/schemas/';

/** Names of parts of OpenAPI and of ours that stand beside schema keywords and check nothing. */
const annotations = ['example', 'xml', 'externalDocs', 'components', 'operations'];

/** Makes pointers into the components absolute, so that any part of a schema can be compiled on its own. */
export const absoluteRefs = (schema: unknown): unknown =>
  copySchema(schema, (pointer) => (pointer.startsWith('#') ? `${rootId}${pointer}` : pointer));

/** Compiles parts of the contract. */
export interface SchemaCompiler {
  /** @param schema with absolute pointers; compiled once per object */
  compile(schema: JsonSchema): ValidateFunction;
  /** The schema that a pointer names, with absolute pointers inside. */
  resolve(pointer: string): JsonSchema;
}

/**
 * A validator that knows all components. Strict: an unknown keyword or format is a mistake in the contract and throws.
 * Patterns are all our own and linear (no nested repetition); patterns of users never come here (PITFALLS 57).
 * @param components named schemas as they were declared
 */
export function createSchemaCompiler(components: ReadonlyMap<string, unknown>, options: Options): SchemaCompiler {
  const schemas = absoluteRefs(Object.fromEntries(components));
  if (!isRecord(schemas)) throw new Error('contract: components are not an object');
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    // Unions name the property that tells their members apart; the members declare it.
    strictRequired: false,
    discriminator: true,
    messages: false,
    // Large schemas are compiled on first use, in the middle of a request: small pieces, compiled once and called,
    // compile several times faster than one inlined whole, and run as fast.
    inlineRefs: 10,
    code: { optimize: false },
    validateSchema: false,
    addUsedSchema: false,
    ...options,
  });
  // The CommonJS module and its default export are the same function; only one of them is typed as callable.
  formats.default(ajv);
  ajv.addVocabulary(annotations);
  const known = new Set(annotations);
  const learn = (schema: unknown): void => {
    for (const keyword of keywordsOf(schema)) {
      if (!keyword.startsWith('x-') || known.has(keyword)) continue;
      known.add(keyword);
      ajv.addVocabulary([keyword]);
    }
  };
  for (const schema of Object.values(schemas)) learn(schema);
  ajv.addSchema({ $id: rootId, components: { schemas } });
  const prefix = `${rootId}${componentPrefix}`;
  return {
    compile(schema) {
      learn(schema);
      return ajv.compile(schema);
    },
    resolve(pointer) {
      const schema = pointer.startsWith(prefix) ? schemas[pointer.slice(prefix.length)] : undefined;
      if (!isRecord(schema)) throw new Error(`contract: ${pointer} is not declared`);
      return schema;
    },
  };
}
