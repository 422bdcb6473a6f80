/** A JSON Schema as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords whose value maps names to schemas; the names are not keywords. */
const mapKeywords = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);

/** Keywords whose value is data, not schemas; walking stops there. */
const dataKeywords = new Set(['const', 'enum', 'default', 'example', 'examples', 'x-samples']);

/**
 * A deep copy of a schema as plain JSON, with every `$ref` passed through `ref` and every keyword through `keep`.
 * Marks that the type library hides in symbols or `~` keys do not survive.
 */
export function copySchema(
  schema: unknown,
  ref: (pointer: string) => string = (pointer) => pointer,
  keep: (keyword: string) => boolean = () => true,
): unknown {
  if (Array.isArray(schema)) return schema.map((item) => copySchema(item, ref, keep));
  if (!isRecord(schema)) return schema;
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key.startsWith('~') || !keep(key)) continue;
    if (key === '$ref' && typeof value === 'string') copy[key] = ref(value);
    else if (dataKeywords.has(key)) copy[key] = structuredClone(value);
    else if (mapKeywords.has(key) && isRecord(value)) {
      copy[key] = Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, copySchema(inner, ref, keep)]),
      );
    } else copy[key] = copySchema(value, ref, keep);
  }
  return copy;
}

/** Every keyword that occurs in a schema, field names excluded. */
export function keywordsOf(schema: unknown, found: Set<string> = new Set()): Set<string> {
  if (Array.isArray(schema)) for (const item of schema) keywordsOf(item, found);
  if (!isRecord(schema)) return found;
  for (const [key, value] of Object.entries(schema)) {
    found.add(key);
    if (dataKeywords.has(key)) continue;
    if (mapKeywords.has(key) && isRecord(value)) {
      for (const inner of Object.values(value)) keywordsOf(inner, found);
    } else keywordsOf(value, found);
  }
  return found;
}
