import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { OAuthScope } from './scopes.ts';

/** The services of DESIGN section 1 that own operations. */
export const services = [
  'identity',
  'content',
  'sites',
  'integrations',
  'conversations',
  'translation',
  'gateway',
] as const;
export type ServiceName = (typeof services)[number];

/**
 * Where an operation is reachable: `public` under /v1, `admin` under /admin/v1 (instance administrators only), and
 * `internal` only between our own services.
 */
export type Surface = 'public' | 'admin' | 'internal';

/** What a caller needs, for the human reference and the permission matrix of the tests. */
export type Access =
  | 'anonymous'
  | 'authenticated'
  | 'instance-admin'
  | 'self'
  | 'service'
  | `organization:${'view' | 'edit' | 'admin' | 'createContent' | 'createOpenAPISpec' | 'listMembers' | 'listTeams'}`
  | `team:${'view' | 'admin'}`
  | `collection:${'view' | 'create' | 'viewInviteLinks' | 'admin'}`
  | `space:${'view' | 'comment' | 'edit' | 'review' | 'merge' | 'triggerGitSync' | 'viewInviteLinks' | 'admin'}`
  | `comment:${'edit' | 'delete'}`;

export interface OperationDefinition {
  /** The reference's operation id. */
  readonly id: string;
  readonly owner: ServiceName;
  readonly surface: Surface;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the surface's prefix, with `{name}` parameters. A trailing `{name*}` takes the rest, slashes included. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** OAuth scope that a scoped token needs (gaps-filled section 12); without one, scoped tokens may not call it. */
  readonly scope?: OAuthScope;
  readonly params?: TObject<TProperties>;
  readonly query?: TObject<TProperties>;
  readonly body?: TSchema;
  /** The body may be absent or empty even with a JSON content type. */
  readonly bodyOptional?: boolean;
  /** Which bound of `limits.body` applies; `standard` unless stated. */
  readonly bodyLimit?: 'standard' | 'large';
  /** Success codes and what they carry; null = empty body. */
  readonly success: Readonly<Record<number, TSchema | null>>;
  /** Error codes beyond those that every operation may answer (400 with input, 401, 403, 404 with parameters, 429, 500, 503). */
  readonly errors?: readonly number[];
  /** Answers carry a `Location` header. */
  readonly location?: true;
  /** Answers carry an `ETag`; when the method changes something, `If-Match` is honoured (412 when stale). */
  readonly etag?: true;
  /** `If-Match` is honoured (412 when stale) although the answer carries no `ETag`. */
  readonly ifMatch?: true;
  /** The answer carries a secret: it is never kept in clear for repeats. */
  readonly secret?: true;
  /** Erases a user (of the path, else the caller): kept answers that name it are forgotten. */
  readonly erasesUser?: true;
  /** `Prefer: return=minimal` is honoured with 204 (gaps-filled section 1). */
  readonly minimal?: true;
  /** Only reads, although its method is not GET: asking twice does no more than asking once. */
  readonly reads?: true;
  /** Time after which the caller gets a 503, in ms, where it is not the gateway's default (30 s). */
  readonly deadlineMs?: number;
}

/** Declares one operation. The identity function, kept for its types. */
export const operation = <const D extends OperationDefinition>(definition: D): D => definition;

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise;
/** Path parameters of an operation as its handler sees them. */
export type ParamsOf<D extends OperationDefinition> = StaticOr<D['params'], Record<never, never>>;
/** Query of an operation, coerced and with defaults filled in. */
export type QueryOf<D extends OperationDefinition> = StaticOr<D['query'], Record<never, never>>;
/** Body of an operation; undefined is possible where it is optional. */
export type BodyOf<D extends OperationDefinition> = D['body'] extends TSchema
  ? D['bodyOptional'] extends true
    ? Static<D['body']> | undefined
    : Static<D['body']>
  : undefined;
/** What a handler answers, one member per success code; embedded resources are ids here. */
export type AnswerOf<D extends OperationDefinition> = {
  [C in keyof D['success'] & number]: D['success'][C] extends TSchema
    ? { readonly status: C; readonly body: Static<D['success'][C]> }
    : { readonly status: C; readonly body?: undefined };
}[keyof D['success'] & number];
