import { isRecord, type JsonSchema } from '../kit/json-schema.ts';
import { listWords, typeName } from './rules.ts';

/** What to say about a value that fits no branch of a union. */
export type BranchChoice =
  | { readonly kind: 'branch'; readonly branch: JsonSchema }
  /** The branches are told apart by `property` (undefined: by the value itself). */
  | { readonly kind: 'rule'; readonly property: string | undefined; readonly rule: string };

const jsonType = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
};

const typesOf = (branch: JsonSchema): readonly string[] => {
  const type = branch.type;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((name) => typeof name === 'string');
  if ('const' in branch) return [jsonType(branch.const)];
  return [];
};

const fitsType = (branch: JsonSchema, value: unknown): boolean => {
  const types = typesOf(branch);
  const actual = jsonType(value);
  return types.length === 0 || types.includes(actual) || (actual === 'number' && types.includes('integer'));
};

/** The fixed values of a field, where it has any. */
export function fixedValues(schema: unknown): readonly unknown[] | undefined {
  if (!isRecord(schema)) return undefined;
  if ('const' in schema) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  return undefined;
}

function tagsOf(branch: JsonSchema): ReadonlyMap<string, readonly unknown[]> {
  const properties = branch.properties;
  const required = Array.isArray(branch.required) ? branch.required : [];
  const tags = new Map<string, readonly unknown[]>();
  if (!isRecord(properties)) return tags;
  for (const name of required) {
    const values = typeof name === 'string' ? fixedValues(properties[name]) : undefined;
    if (typeof name === 'string' && values) tags.set(name, values);
  }
  return tags;
}

/**
 * Chooses the branch that the caller most likely meant: right JSON type first, then the fixed fields (`operation`,
 * `type`, `kind` ...), then the fewest broken rules.
 * @param count how many rules of a branch the value breaks
 */
export function chooseBranch(
  branches: readonly JsonSchema[],
  value: unknown,
  count: (branch: JsonSchema) => number,
): BranchChoice {
  const typed = branches.filter((branch) => fitsType(branch, value));
  const [only] = typed;
  if (only === undefined) {
    const names = [...new Set(branches.flatMap(typesOf))].map(typeName);
    return { kind: 'rule', property: undefined, rule: `must be ${names.join(' or ') || 'of another type'}` };
  }
  if (typed.length === 1) return { kind: 'branch', branch: only };
  if (isRecord(value)) return chooseByTag(typed, value, count);
  const words = typed.map(fixedValues);
  if (words.every((list) => list !== undefined)) {
    return { kind: 'rule', property: undefined, rule: `must be one of ${listWords(words.flat())}` };
  }
  return { kind: 'branch', branch: fewest(typed, count) };
}

function chooseByTag(
  branches: readonly JsonSchema[],
  value: Readonly<Record<string, unknown>>,
  count: (branch: JsonSchema) => number,
): BranchChoice {
  const tags = branches.map(tagsOf);
  const fitting = branches.filter((_, index) =>
    [...(tags[index] ?? [])].every(([name, values]) => values.includes(value[name])),
  );
  if (fitting.length > 0) return { kind: 'branch', branch: fewest(fitting, count) };
  const shared = [...(tags[0]?.keys() ?? [])].filter((name) => tags.every((map) => map.has(name)));
  // Of several shared tags the one with the most different values tells the branches apart.
  const allowed = (name: string): readonly unknown[] => [...new Set(tags.flatMap((map) => map.get(name) ?? []))];
  const property = shared
    .filter((name) => !allowed(name).includes(value[name]))
    .sort((a, b) => allowed(b).length - allowed(a).length)[0];
  if (property === undefined) return { kind: 'branch', branch: fewest(branches, count) };
  return { kind: 'rule', property, rule: `must be one of ${listWords(allowed(property))}` };
}

function fewest(branches: readonly JsonSchema[], count: (branch: JsonSchema) => number): JsonSchema {
  let best: { readonly branch: JsonSchema; readonly broken: number } | undefined;
  for (const branch of branches) {
    const broken = branches.length === 1 ? 0 : count(branch);
    if (best === undefined || broken < best.broken) best = { branch, broken };
  }
  return best?.branch ?? {};
}
