import type { ValidateFunction } from 'ajv';
import { absoluteRefs, createSchemaCompiler, type SchemaCompiler } from '../contract/ajv.ts';
import { Explainer } from '../contract/explain.ts';
import { sentence } from '../contract/violation.ts';
import { components } from '../kit/components.ts';
import { isRecord, type JsonSchema } from '../kit/json-schema.ts';
import type { PublicEventDefinition } from '../kit/public-event.ts';
import { publicEvents } from '../public-events.ts';
import { envelope } from './envelope.ts';

/** A public event does not fit the catalogue: a mistake of ours, so it must not leave (PITFALLS 52). */
export class PublicEventInvalid extends Error {
  readonly code = 'public_event.invalid';
}

interface Check {
  readonly schema: JsonSchema;
  readonly validate: ValidateFunction;
}

/**
 * Makes the check that every public event passes before it leaves a service.
 * @returns a function that throws `PublicEventInvalid` naming what is wrong
 */
export function createPublicEventCheck(events: ReadonlyMap<string, PublicEventDefinition>): (event: unknown) => void {
  let compiler: SchemaCompiler | undefined;
  const checks = new Map<string, Check>();
  const prepare = (key: string, declared: unknown): Check => {
    const known = checks.get(key);
    if (known) return known;
    compiler ??= createSchemaCompiler(components(), { allErrors: false, verbose: true });
    const schema = absoluteRefs(declared);
    if (!isRecord(schema)) throw new Error(`contract: the schema of ${key} is not an object`);
    const check: Check = { schema, validate: compiler.compile(schema) };
    checks.set(key, check);
    return check;
  };
  const require = (check: Check, value: unknown, at: string): void => {
    if (check.validate(value) || !compiler) return;
    throw new PublicEventInvalid(sentence(new Explainer(compiler).explain(check.schema, value, at)));
  };
  return (event) => {
    require(prepare('envelope', envelope.event), event, 'event');
    const { type, source, data } = Object(event);
    const definition = events.get(type);
    if (!definition) throw new PublicEventInvalid(`event.type: ${type} is not in the catalogue`);
    if (source !== `/services/${definition.owner}`) {
      throw new PublicEventInvalid(`event.source: ${type} belongs to ${definition.owner}`);
    }
    require(prepare(type, definition.data), data, 'event.data');
  };
}

/** Checks an event against the catalogue. @throws PublicEventInvalid */
export const validatePublicEvent: (event: unknown) => void = createPublicEventCheck(publicEvents);
