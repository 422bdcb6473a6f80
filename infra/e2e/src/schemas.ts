/** JSON Schema as it stands in the OpenAPI document, as far as these tests read it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: Schema;
}

export interface DescribedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body?: Schema;
  readonly bodyRequired: boolean;
}

/** A value to send in one place, and whether the contract refuses it. */
export interface Attempt {
  readonly what: string;
  readonly value: unknown;
  /** `refused`: must be a 4xx. `answered`: anything but a 5xx. */
  readonly expected: 'refused' | 'answered';
}

interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId?: string;
            readonly parameters?: readonly (Parameter & { readonly $ref?: string })[];
            readonly requestBody?: {
              readonly required?: boolean;
              readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
            };
          }
        >
      >
    >
  >;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
  };
}

/** Operations of an OpenAPI document, and what resolves its references. */
export const readOpenApi = (
  document: OpenApi,
): { readonly operations: readonly DescribedOperation[]; readonly resolve: (schema: Schema) => Schema } => {
  const resolve = (schema: Schema): Schema => {
    let at = schema;
    for (let hops = 0; at.$ref !== undefined && hops < 20; hops += 1)
      at = document.components.schemas[at.$ref.split('/').at(-1) ?? ''] ?? {};
    return at;
  };
  const operations: DescribedOperation[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(methods)) {
      if (described.operationId === undefined) continue;
      const parameters = (described.parameters ?? []).flatMap((parameter) => {
        const found =
          parameter.$ref === undefined
            ? parameter
            : document.components.parameters?.[parameter.$ref.split('/').at(-1) ?? ''];
        return found === undefined ? [] : [found];
      });
      const body = described.requestBody?.content?.['application/json']?.schema;
      operations.push({
        id: described.operationId,
        method: method.toUpperCase(),
        path,
        parameters,
        ...(body === undefined ? {} : { body }),
        bodyRequired: described.requestBody?.required === true,
      });
    }
  }
  return { operations, resolve };
};

/** The smallest value that the schema takes, good enough to carry one bad field. */
export const sample = (schema: Schema, resolve: (schema: Schema) => Schema, depth = 0): unknown => {
  const s = resolve(schema);
  if (s.const !== undefined) return s.const;
  if (s.enum !== undefined) return s.enum[0];
  const branch = s.anyOf?.[0] ?? s.oneOf?.[0];
  if (branch !== undefined && depth < 8) return sample(branch, resolve, depth + 1);
  switch (s.type) {
    case 'string':
      if (s.format === 'uri') return 'https://example.com/a';
      if (s.format === 'email') return 'someone@example.com';
      if (s.format === 'date-time') return '2030-01-01T00:00:00.000Z';
      return 'a'.repeat(Math.max(s.minLength ?? 0, 3)).slice(0, s.maxLength ?? 1000);
    case 'integer':
    case 'number':
      return s.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: s.minItems ?? 0 }, () => sample(s.items ?? {}, resolve, depth + 1));
    case 'object': {
      const value: Record<string, unknown> = {};
      for (const name of s.required ?? []) value[name] = sample(s.properties?.[name] ?? {}, resolve, depth + 1);
      return value;
    }
    default:
      return {};
  }
};

const allows = (schema: Schema, type: string, resolve: (schema: Schema) => Schema): boolean => {
  const s = resolve(schema);
  const branches = s.anyOf ?? s.oneOf;
  if (branches !== undefined) return branches.some((branch) => allows(branch, type, resolve));
  if (s.enum !== undefined)
    return type === 'string' && s.enum.some((one) => typeof one === 'string' && one === 'wrong');
  if (s.const !== undefined) return false;
  if (s.type === undefined) return true;
  return s.type === type || (type === 'number' && s.type === 'integer');
};

const longest = (schema: Schema, resolve: (schema: Schema) => Schema): number | undefined => {
  const s = resolve(schema);
  const branches = s.anyOf ?? s.oneOf;
  if (branches !== undefined) {
    const lengths = branches.map((branch) => (allows(branch, 'string', resolve) ? longest(branch, resolve) : 0));
    return lengths.some((length) => length === undefined)
      ? undefined
      : Math.max(...lengths.map((length) => length ?? 0));
  }
  return s.maxLength;
};

/** What to try in the place of one field. */
export const attemptsOn = (schema: Schema, resolve: (schema: Schema) => Schema): readonly Attempt[] => {
  const attempts: Attempt[] = [];
  const refuseUnless = (type: string, what: string, value: unknown): void => {
    attempts.push({ what, value, expected: allows(schema, type, resolve) ? 'answered' : 'refused' });
  };
  refuseUnless('null', 'null', null);
  refuseUnless('number', 'a number', 12345.678);
  refuseUnless('boolean', 'a boolean', false);
  refuseUnless('array', 'an array', [[[]]]);
  refuseUnless('object', 'an object', { unexpected: { deep: true } });
  refuseUnless('string', 'a string', 'wrong');
  if (allows(schema, 'string', resolve)) {
    const max = longest(schema, resolve);
    if (max !== undefined && max > 0) {
      attempts.push({ what: 'one character over the limit', value: 'x'.repeat(max + 1), expected: 'refused' });
      attempts.push({ what: 'at the limit', value: 'y'.repeat(max), expected: 'answered' });
    }
    for (const [what, value] of [
      ['empty', ''],
      ['blank', '   '],
      ['control characters', 'a\u0000b\u0007\u001b[31m'],
      ['unicode', '\u{1F468}\u200d\u{1F469}\u200d\u{1F467} مرحبا 東京 \u202e e\u0301'],
      ['a lone surrogate', '\ud800'],
      ['markup', '<script>alert(1)</script>{{7*7}}<%= 7*7 %>'],
      ['a query', "' OR 1=1; DROP TABLE spaces; --"],
      ['a path', '../../../etc/passwd'],
      ['__proto__', '__proto__'],
    ] as const)
      attempts.push({ what, value, expected: 'answered' });
  }
  return attempts;
};
