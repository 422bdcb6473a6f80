import type { ValidateFunction } from 'ajv';
import { components } from '../kit/components.ts';
import { ErrorBody, errorStatuses } from '../kit/error.ts';
import { isRecord, type JsonSchema } from '../kit/json-schema.ts';
import type { OperationDefinition } from '../kit/operation.ts';
import { absoluteRefs, createSchemaCompiler } from './ajv.ts';
import { createEmbedPlanner, type EmbedPlan } from './embeds.ts';
import { Explainer } from './explain.ts';
import { guardJson, guardText } from './guard.ts';
import { createNumberCheck } from './plain-numbers.ts';
import type { Violation } from './violation.ts';

/** Values up to this many nodes get all their errors collected; larger ones only the first (bounded work). */
const maxExplainedNodes = 5000;

/** Checks one part of a request. Coerces and fills defaults in place. Undefined = fine. */
export type PartCheck = (value: unknown) => readonly Violation[] | undefined;

/** The checks of one operation, compiled on first use and kept. */
export interface OperationChecks {
  readonly params: PartCheck;
  readonly query: PartCheck;
  readonly body: PartCheck;
  /** Compile the parts without checking anything. */
  readonly prepare: readonly (() => void)[];
}

/** The contract, ready to check requests and answers. */
export interface Contract {
  readonly operations: ReadonlyMap<string, OperationDefinition>;
  /** @throws Error for an id that is not declared */
  operation(id: string): OperationDefinition;
  checks(operation: OperationDefinition): OperationChecks;
  /**
   * Compiles the checks of all requests, one per step, so that no request has to wait for it. The caller spreads the
   * steps over idle time.
   */
  warmUp(): Iterable<string>;
  /** Where the answers of an operation embed resources of other services; undefined when they embed none. */
  embedPlan(operation: OperationDefinition, status: number): EmbedPlan | undefined;
  /**
   * Checks an answer as the client sees it: status documented, body as declared. For tests.
   * @param body undefined when the answer has none
   * @returns what is wrong, empty when nothing is
   */
  checkResponse(operationId: string, status: number, body: unknown): readonly string[];
}

const absolute = (schema: unknown): JsonSchema => {
  const copy = absoluteRefs(schema);
  if (!isRecord(copy)) throw new Error('contract: a schema is not an object');
  return copy;
};

const closedEmpty: JsonSchema = { type: 'object', additionalProperties: false, properties: {} };
const empty: PartCheck = (value) => {
  const [name] = Object.keys(Object(value));
  return name === undefined ? undefined : [{ field: 'query', rule: 'takes no parameters in this operation' }];
};

/**
 * Makes a contract of a set of operations. Cheap: nothing is compiled before it is used.
 * @param operations by id; the key and the id must agree
 */
export function createContract(operations: Readonly<Record<string, OperationDefinition>>): Contract {
  const byId = new Map(Object.values(operations).map((operation) => [operation.id, operation]));
  const named = components();
  const lazy = <T>(make: () => T): (() => T) => {
    let made: { readonly value: T } | undefined;
    return () => {
      made ??= { value: make() };
      return made.value;
    };
  };
  const compilers = (coerceTypes: 'array' | false) => {
    const make = (more: { readonly allErrors: boolean; readonly verbose: boolean }) =>
      lazy(() => createSchemaCompiler(named, { useDefaults: true, coerceTypes, ...more }));
    return {
      /** Says yes or no. */
      decide: make({ allErrors: false, verbose: false }),
      explainFirst: make({ allErrors: false, verbose: true }),
      explainAll: make({ allErrors: true, verbose: true }),
    };
  };
  const strict = compilers(false);
  const coercing = compilers('array');
  // Answers are checked as they are: no defaults, no coercion.
  const answers = lazy(() => createSchemaCompiler(named, { allErrors: true, verbose: true }));
  const planner = lazy(() => createEmbedPlanner(named));

  const part = (declared: unknown, at: string, mode: typeof strict): { check: PartCheck; prepare: () => void } => {
    const compiled = lazy((): { readonly schema: JsonSchema; readonly validate: ValidateFunction } => {
      const schema = absolute(declared);
      return { schema, validate: mode.decide().compile(schema) };
    });
    const check: PartCheck = (value) => {
      const { schema, validate } = compiled();
      if (validate(value)) return undefined;
      const explaining = isSmall(value) ? mode.explainAll() : mode.explainFirst();
      return new Explainer(explaining).explain(schema, value, at);
    };
    return { check, prepare: compiled };
  };

  /** A part whose values come as text. */
  const textPart = (declared: unknown, at: string): ReturnType<typeof part> => {
    const { check, prepare } = part(declared, at, coercing);
    const numbers = lazy(() => createNumberCheck(absolute(declared), at, (to) => coercing.decide().resolve(to)));
    return { check: (value) => numbers()(value) ?? check(value), prepare };
  };

  const cache = new Map<OperationDefinition, OperationChecks>();
  const makeChecks = (operation: OperationDefinition): OperationChecks => {
    const params = textPart(operation.params ?? closedEmpty, 'params');
    const query = operation.query ? textPart(operation.query, 'query') : { check: empty, prepare: () => undefined };
    const body = part(operation.body ?? closedEmpty, 'body', strict);
    return {
      params: (value) => guardFlat(value, 'params') ?? (operation.params ? params.check(value) : undefined),
      query: (value) => guardFlat(value, 'query') ?? query.check(value),
      body: (value) => {
        const found = guardJson(value, 'body');
        return found ? [found] : body.check(value);
      },
      prepare: [params.prepare, query.prepare, body.prepare],
    };
  };

  const plans = new WeakMap<object, { readonly plan: EmbedPlan | undefined }>();
  const answerSchemas = new Map<string, JsonSchema>();
  const checkBody = (key: string, declared: unknown, body: unknown): readonly string[] => {
    const schema = answerSchemas.get(key) ?? absolute(declared);
    answerSchemas.set(key, schema);
    return new Explainer(answers()).explain(schema, body, 'answer').map(({ field, rule }) => `${field}: ${rule}`);
  };

  const contract: Contract = {
    operations: byId,
    operation(id) {
      const found = byId.get(id);
      if (!found) throw new Error(`contract: operation ${id} is not declared`);
      return found;
    },
    checks(operation) {
      const made = cache.get(operation) ?? makeChecks(operation);
      cache.set(operation, made);
      return made;
    },
    *warmUp() {
      for (const operation of byId.values()) {
        for (const prepare of contract.checks(operation).prepare) {
          prepare();
          yield operation.id;
        }
      }
    },
    embedPlan: (operation, status) => {
      const declared = operation.success[status];
      if (!declared) return undefined;
      const known = plans.get(declared);
      if (known) return known.plan;
      const plan = planner()(declared);
      plans.set(declared, { plan });
      return plan;
    },
    checkResponse(operationId, status, body) {
      const operation = contract.operation(operationId);
      if (Object.hasOwn(operation.success, status)) {
        const declared = operation.success[status];
        if (declared) return checkBody(`${operationId} ${status}`, declared, body);
        return body === undefined ? [] : [`${operationId}: ${status} has no body`];
      }
      if (status === 204 && operation.minimal) return body === undefined ? [] : [`${operationId}: 204 has no body`];
      if (status === 304 && operation.etag) return body === undefined ? [] : [`${operationId}: 304 has no body`];
      if (!errorStatuses(operation).includes(status)) return [`${operationId}: status ${status} is not documented`];
      const wrong = checkBody('error', ErrorBody, body);
      if (wrong.length > 0) return wrong;
      return Object(body).error.code === status ? [] : [`${operationId}: error.code is not ${status}`];
    },
  };
  return contract;
}

function isSmall(value: unknown): boolean {
  let left = maxExplainedNodes;
  const visit = (node: unknown): void => {
    left -= 1;
    if (left < 0 || typeof node !== 'object' || node === null) return;
    for (const inner of Object.values(node)) {
      if (left < 0) return;
      visit(inner);
    }
  };
  visit(value);
  return left >= 0;
}

function guardFlat(value: unknown, at: string): readonly Violation[] | undefined {
  for (const [name, inner] of Object.entries(Object(value))) {
    for (const text of Array.isArray(inner) ? inner : [inner]) {
      const found = typeof text === 'string' ? guardText(text, `${at}.${name.slice(0, 60)}`) : undefined;
      if (found) return [found];
    }
  }
  return undefined;
}
