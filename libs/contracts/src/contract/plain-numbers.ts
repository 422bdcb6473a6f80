import { isRecord, type JsonSchema } from '../kit/json-schema.ts';
import { ruleOfType } from './rules.ts';
import type { Violation } from './violation.ts';

const forms: Readonly<Record<string, RegExp>> = { integer: /^-?\d+$/, number: /^-?\d+(?:\.\d+)?$/ };

/** Checks the texts that stand for numbers in a flat part of a request. Undefined = fine. */
export type NumberCheck = (value: unknown) => readonly Violation[] | undefined;

/**
 * Numbers in an address are written in plain decimals. The validator's own coercion takes whatever JavaScript takes for a
 * number (`0x1`, `1e1`, a space before it), so that is refused before.
 * @param schema of an object with plain properties, or lists of them
 * @param at name of the part: `query`
 * @param resolve finds the schema that a pointer names
 */
export function createNumberCheck(
  schema: JsonSchema,
  at: string,
  resolve: (pointer: string) => JsonSchema,
): NumberCheck {
  const follow = (declared: unknown): unknown =>
    isRecord(declared) && typeof declared.$ref === 'string' ? resolve(declared.$ref) : declared;
  const typeOf = (declared: unknown): string | undefined => {
    const found = follow(declared);
    if (!isRecord(found)) return undefined;
    return found.type === 'array' ? typeOf(found.items) : typeof found.type === 'string' ? found.type : undefined;
  };
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const numbers = Object.entries(properties).flatMap(([name, declared]) => {
    const type = typeOf(declared);
    const form = type === undefined ? undefined : forms[type];
    return type === undefined || form === undefined ? [] : [{ name, type, form }];
  });
  return (value) => {
    if (!isRecord(value)) return undefined;
    const found = numbers
      .filter(({ name, form }) => [value[name]].flat().some((text) => typeof text === 'string' && !form.test(text)))
      .map(({ name, type }): Violation => ({ field: `${at}.${name}`, rule: ruleOfType(type) }));
    return found.length > 0 ? found : undefined;
  };
}
