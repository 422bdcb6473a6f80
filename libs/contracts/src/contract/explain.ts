import type { ErrorObject } from 'ajv';
import { isRecord, type JsonSchema } from '../kit/json-schema.ts';
import type { SchemaCompiler } from './ajv.ts';
import { chooseBranch, fixedValues } from './branch.ts';
import { fieldName, listWords, ruleOf } from './rules.ts';
import { maxViolations, type Violation } from './violation.ts';

/** How deep unions inside unions are followed for a better message. */
const maxUnionDepth = 12;

const isUnion = (error: ErrorObject): boolean => error.keyword === 'anyOf' || error.keyword === 'oneOf';
const isBelow = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}/`);

/** Turns the errors of a validator into messages for people; of a union only the branch that fits best is explained. */
export class Explainer {
  readonly #compiler: SchemaCompiler;

  /** @param compiler one that collects all errors */
  constructor(compiler: SchemaCompiler) {
    this.#compiler = compiler;
  }

  /**
   * @param schema what the value broke, with absolute pointers
   * @param at name of the value: `body`
   * @returns 1..5 violations, in the order of the fields as far as the validator keeps it
   */
  explain(schema: JsonSchema, value: unknown, at: string, depth = 0): readonly Violation[] {
    const validate = this.#compiler.compile(schema);
    if (validate(value)) return [];
    const errors = validate.errors ?? [];
    const unions = errors.filter(isUnion);
    const outer = unions.filter(
      (union) => !unions.some((other) => other !== union && this.#encloses(other, union, errors)),
    );
    const violations: Violation[] = [];
    const add = (found: Violation): void => {
      const known = violations.some(({ field, rule }) => field === found.field && rule === found.rule);
      if (!known && violations.length < maxViolations) violations.push(found);
    };
    for (const error of errors) {
      if (violations.length >= maxViolations) break;
      if (outer.includes(error)) for (const found of this.#union(error, at, depth)) add(found);
      else if (!outer.some((union) => isBelow(error.instancePath, union.instancePath))) {
        add({
          field: fieldName(at, error),
          rule: error.keyword === 'discriminator' ? this.#tag(error) : ruleOf(error),
        });
      }
    }
    return violations.length > 0 ? violations : [{ field: at, rule: 'does not fit the contract' }];
  }

  /** Whether `inner` was reported while a branch of `outer` was tried: it is below it, or earlier at the same place. */
  #encloses(outer: ErrorObject, inner: ErrorObject, errors: readonly ErrorObject[]): boolean {
    if (outer.instancePath !== inner.instancePath) return isBelow(inner.instancePath, outer.instancePath);
    return errors.indexOf(outer) > errors.indexOf(inner);
  }

  #union(error: ErrorObject, at: string, depth: number): readonly Violation[] {
    const field = fieldName(at, error);
    const branches: unknown = error.parentSchema?.[error.keyword];
    if (!Array.isArray(branches) || depth >= maxUnionDepth) return [{ field, rule: ruleOf(error) }];
    const resolved = branches.filter(isRecord).map((branch) => this.#follow(branch));
    const choice = chooseBranch(resolved, error.data, (branch) => this.#count(branch, error.data));
    if (choice.kind === 'rule') {
      return [{ field: choice.property === undefined ? field : `${field}.${choice.property}`, rule: choice.rule }];
    }
    const found = this.explain(choice.branch, error.data, field, depth + 1);
    return found.length > 0 ? found : [{ field, rule: 'fits more than one of the allowed forms' }];
  }

  /** The values that tell the branches of a discriminated union apart. */
  #tag(error: ErrorObject): string {
    const name = String(error.params.tag);
    const branches: unknown = error.parentSchema?.oneOf;
    const values = (Array.isArray(branches) ? branches : []).filter(isRecord).flatMap((branch) => {
      const properties = this.#follow(branch).properties;
      return isRecord(properties) ? (fixedValues(properties[name]) ?? []) : [];
    });
    return `must be one of ${listWords(values)}`;
  }

  #follow(branch: JsonSchema): JsonSchema {
    let current = branch;
    for (let hops = 0; hops < 10 && typeof current.$ref === 'string'; hops += 1) {
      current = this.#compiler.resolve(current.$ref);
    }
    return current;
  }

  #count(branch: JsonSchema, value: unknown): number {
    const validate = this.#compiler.compile(branch);
    return validate(value) ? 0 : (validate.errors?.length ?? 0);
  }
}
