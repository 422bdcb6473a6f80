import { components } from '../kit/components.ts';
import { copySchema } from '../kit/json-schema.ts';
import type { OperationDefinition } from '../kit/operation.ts';
import { operations } from '../operations.ts';
import { describeOperation } from './operation.ts';
import { headers, parameters, responses } from './shared.ts';

/** Where the surfaces are mounted. */
const prefixes = { public: '/v1', admin: '/admin/v1' } as const;

export interface OpenApiOptions {
  /** Address of the instance without a trailing slash. */
  readonly baseUrl: string;
  readonly version: string;
  /** Default: every operation of the contract. */
  readonly operations?: Readonly<Record<string, OperationDefinition>>;
}

/** An OpenAPI 3.1 document as plain JSON. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly [part: string]: unknown;
}

const introduction = `The management interface of a Bindery instance: spaces, change requests, review, publishing and search.

- Every failure answers \`{"error": {"code": <HTTP status>, "message": <text>}}\`.
- Lists answer \`{items, next?: {page}, count?}\`; pass \`next.page\` as \`page\` to go on.
- Every \`POST\` takes an \`Idempotency-Key\`: a repeat with the same key and body gets the same answer, for 24 hours.
- Resources that can be changed carry an \`ETag\`; send it as \`If-Match\` to refuse a change of a version you have not seen.
- Every answer carries \`X-Request-Id\`; quote it when you report a problem.`;

const administration = 'For instance administrators only.';

/** Builds the OpenAPI document of the public and the administrative surface. Internal operations are not in it. */
export function buildOpenApi(options: OpenApiOptions): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  const tags = new Map<string, boolean>();
  for (const operation of Object.values<OperationDefinition>(options.operations ?? operations)) {
    if (operation.surface === 'internal') continue;
    const path = `${prefixes[operation.surface]}${operation.path.replace(/\*\}/g, '}')}`;
    const item = paths[path] ?? {};
    item[operation.method.toLowerCase()] = describeOperation(operation);
    paths[path] = item;
    tags.set(operation.tag, operation.surface === 'admin' && (tags.get(operation.tag) ?? true));
  }
  const schemas = Object.fromEntries(
    [...components()].sort(([a], [b]) => a.localeCompare(b)).map(([name, schema]) => [name, publicSchema(schema)]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bindery API',
      version: options.version,
      description: introduction,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl, description: 'This instance' }],
    tags: [...tags].map(([name, admin]) => ({ name, ...(admin && { description: administration }) })),
    security: [{ token: [] }],
    paths,
    components: {
      schemas: reachable(schemas, paths),
      parameters,
      headers,
      responses,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A personal access token: `bnd_pat_...`.' },
      },
    },
  };
}

/** A schema without the marks that concern only the gateway. */
export const publicSchema = (schema: unknown): unknown =>
  copySchema(
    schema,
    (pointer) => pointer,
    (keyword) => keyword !== 'x-embed',
  );

/** The schemas that the paths and the error answers use, directly or through others. */
function reachable(schemas: Readonly<Record<string, unknown>>, paths: unknown): Record<string, unknown> {
  const used = new Set<string>();
  const queue: unknown[] = [paths, { $ref: '#/components/schemas/Error' }];
  for (let part = queue.pop(); part !== undefined; part = queue.pop()) {
    for (const [, name] of JSON.stringify(part).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || used.has(name)) continue;
      used.add(name);
      queue.push(schemas[name] ?? {});
    }
  }
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
}
