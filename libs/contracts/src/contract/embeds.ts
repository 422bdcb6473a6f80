import { componentPointer, type EmbedKind } from '../kit/components.ts';
import { isRecord, type JsonSchema } from '../kit/json-schema.ts';

/**
 * Where resources of other services are embedded, as a tree that mirrors the answer. Found by walking the schema once;
 * parts without embedded resources are not in it, so filling an answer visits only what it must.
 */
export interface EmbedPlan {
  /** The value here is the id of such a resource and is replaced by it. */
  readonly kind?: EmbedKind;
  readonly fields?: ReadonlyMap<string, EmbedPlan>;
  /** Plan of every element of a list, or of every value of a map. */
  readonly each?: EmbedPlan;
  /** Plans that hold only when the fixed fields of their branch have these values. */
  readonly branches?: readonly { readonly when: ReadonlyMap<string, unknown>; readonly plan: EmbedPlan }[];
}

interface MutablePlan {
  kind?: EmbedKind;
  fields?: ReadonlyMap<string, EmbedPlan>;
  each?: EmbedPlan;
  branches?: readonly { readonly when: ReadonlyMap<string, unknown>; readonly plan: EmbedPlan }[];
}

const prefix = componentPointer('');
const unionKeywords = ['anyOf', 'oneOf', 'allOf'] as const;

/** Makes plans for schemas; components are planned once, also when they contain themselves. */
export function createEmbedPlanner(named: ReadonlyMap<string, unknown>): (schema: unknown) => EmbedPlan | undefined {
  const plans = new Map<string, MutablePlan>();
  const bearing = new Map<string, boolean>();

  const target = (schema: JsonSchema): string | undefined => {
    const pointer = schema.$ref;
    return typeof pointer === 'string' && pointer.startsWith(prefix) ? pointer.slice(prefix.length) : undefined;
  };

  /** Whether an embedded resource can be reached; `open` holds the components being looked at. */
  const bears = (schema: unknown, open: ReadonlySet<string>): boolean => {
    if (Array.isArray(schema)) return schema.some((item) => bears(item, open));
    if (!isRecord(schema)) return false;
    if ('x-embed' in schema) return true;
    const name = target(schema);
    if (name === undefined) return Object.values(schema).some((inner) => bears(inner, open));
    const known = bearing.get(name);
    if (known !== undefined) return known;
    if (open.has(name)) return false;
    const found = bears(named.get(name), new Set([...open, name]));
    // A "no" that was found inside a cycle may only mean that the cycle was cut; it is final at the outermost one.
    if (found || open.size === 0) bearing.set(name, found);
    return found;
  };

  const planned = (schema: unknown): EmbedPlan | undefined => {
    if (!isRecord(schema) || !bears(schema, new Set())) return undefined;
    const name = target(schema);
    if (name === undefined || 'x-embed' in schema) return fill({}, schema);
    const known = plans.get(name);
    if (known) return known;
    const plan: MutablePlan = {};
    plans.set(name, plan);
    return fill(plan, named.get(name));
  };

  const fill = (plan: MutablePlan, schema: unknown): EmbedPlan => {
    if (!isRecord(schema)) return plan;
    const kind = schema['x-embed'];
    if (isEmbedKind(kind)) {
      plan.kind = kind;
      return plan;
    }
    const fields = new Map<string, EmbedPlan>();
    if (isRecord(schema.properties)) {
      for (const [field, inner] of Object.entries(schema.properties)) {
        const found = planned(inner);
        if (found) fields.set(field, found);
      }
    }
    if (fields.size > 0) plan.fields = fields;
    const each = planned(schema.items) ?? planned(schema.additionalProperties) ?? planned(firstPattern(schema));
    if (each) plan.each = each;
    const branches: { when: ReadonlyMap<string, unknown>; plan: EmbedPlan }[] = [];
    for (const keyword of unionKeywords) {
      const declared = schema[keyword];
      if (!Array.isArray(declared)) continue;
      for (const branch of declared) {
        const found = planned(branch);
        if (found) branches.push({ when: fixedFields(branch), plan: found });
      }
    }
    if (branches.length > 0) plan.branches = branches;
    return plan;
  };

  const fixedFields = (branch: unknown): ReadonlyMap<string, unknown> => {
    const name = isRecord(branch) ? target(branch) : undefined;
    const schema = name === undefined ? branch : named.get(name);
    const fixed = new Map<string, unknown>();
    const properties = isRecord(schema) ? schema.properties : undefined;
    if (!isRecord(properties)) return fixed;
    for (const [field, inner] of Object.entries(properties)) {
      if (!isRecord(inner)) continue;
      if ('const' in inner) fixed.set(field, inner.const);
      else if (Array.isArray(inner.enum) && inner.enum.length === 1) fixed.set(field, inner.enum[0]);
    }
    return fixed;
  };

  return planned;
}

const isEmbedKind = (value: unknown): value is EmbedKind =>
  value === 'user' || value === 'team' || value === 'organization' || value === 'space' || value === 'collection';

const firstPattern = (schema: JsonSchema): unknown =>
  isRecord(schema.patternProperties) ? Object.values(schema.patternProperties)[0] : undefined;

/** Called for every embedded resource; what it returns replaces the id. */
export type EmbedVisitor = (kind: EmbedKind, id: string) => unknown;

/**
 * Visits every embedded id of an answer.
 * @returns the answer with replacements; only the objects on the way are copied, so shared data is never changed
 */
export function replaceEmbeds(plan: EmbedPlan, value: unknown, visitor: EmbedVisitor): unknown {
  if (typeof value === 'string') {
    if (plan.kind) return visitor(plan.kind, value);
    // A nullable resource is a union of the resource and null.
    const whole = plan.branches?.find((branch) => branch.plan.kind);
    return whole ? replaceEmbeds(whole.plan, value, visitor) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const { each } = plan;
    return each ? value.map((item) => replaceEmbeds(each, item, visitor)) : applyBranches(plan, value, visitor);
  }
  const copy: Record<string, unknown> = { ...value };
  if (plan.fields) {
    for (const [field, inner] of plan.fields) {
      if (copy[field] !== undefined) copy[field] = replaceEmbeds(inner, copy[field], visitor);
    }
  } else if (plan.each) {
    for (const field of Object.keys(copy)) copy[field] = replaceEmbeds(plan.each, copy[field], visitor);
  }
  return applyBranches(plan, copy, visitor);
}

function applyBranches(plan: EmbedPlan, value: object, visitor: EmbedVisitor): unknown {
  if (!plan.branches) return value;
  const facts: ReadonlyMap<string, unknown> = new Map(Object.entries(value));
  let result: unknown = value;
  for (const { when, plan: inner } of plan.branches) {
    if ([...when].every(([field, expected]) => facts.get(field) === expected)) {
      result = replaceEmbeds(inner, result, visitor);
    }
  }
  return result;
}
