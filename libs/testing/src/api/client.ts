import assert from 'node:assert/strict';
import {
  type BodyOf,
  type Contract,
  createContract,
  type OperationDefinition,
  operations,
  type ParamsOf,
  type QueryOf,
} from '@bindery/contracts';
import type { Static, TSchema } from 'typebox';

/** What a request carries besides its typed parts. */
export interface RequestExtras {
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the client's; null = none. */
  readonly token?: string | null;
}

type Part<Name extends string, T> = [T] extends [undefined]
  ? { readonly [K in Name]?: undefined }
  : Record<never, never> extends T
    ? { readonly [K in Name]?: T }
    : { readonly [K in Name]: T };

/** A request of an operation: parts without required fields may be left out. */
export type ApiRequest<D extends OperationDefinition> = Part<'params', ParamsOf<D>> &
  Part<'query', QueryOf<D>> &
  Part<'body', D['bodyOptional'] extends true ? BodyOf<D> | Record<never, never> : BodyOf<D>> &
  RequestExtras;

/** The same without types, for requests that are wrong on purpose. */
export interface LooseRequest extends RequestExtras {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  /** A string is sent as it is. */
  readonly body?: unknown;
}

/** An answer with a body of type `T`. Embedded resources are whole objects on the wire although the type says id. */
export interface ApiAnswer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

type SuccessStatus<D extends OperationDefinition> = keyof D['success'] & number;
type SuccessBody<D extends OperationDefinition, S extends SuccessStatus<D>> = D['success'][S] extends TSchema
  ? Static<D['success'][S]>
  : undefined;

export interface ApiClient {
  readonly url: string;
  /**
   * Calls an operation and expects success. The answer is checked against the contract.
   * @param status the expected success code
   * @throws AssertionError with what the instance said
   */
  call<D extends OperationDefinition, S extends SuccessStatus<D>>(
    operation: D,
    request: ApiRequest<D>,
    status: S,
  ): Promise<ApiAnswer<SuccessBody<D, S>>>;
  /**
   * Calls an operation and expects a failure with the envelope and a documented status.
   * @returns the message
   */
  refused(operation: OperationDefinition, request: LooseRequest, status: number): Promise<string>;
  /** Calls an operation and takes whatever comes, checked against the contract. */
  send(operation: OperationDefinition, request: LooseRequest): Promise<ApiAnswer<unknown>>;
  /** The same client with another token. */
  as(token: string | null): ApiClient;
}

const prefixes = { public: '/v1', admin: '/admin/v1' } as const;

/** The path of a request, with parameters encoded, slashes too. */
export function pathOf(operation: OperationDefinition, params: Readonly<Record<string, unknown>> = {}): string {
  assert(operation.surface !== 'internal', `${operation.id} is internal`);
  const path = operation.path.replace(/\{([^}*]+)\*?\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  return `${prefixes[operation.surface]}${path}`;
}

function queryOf(query: Readonly<Record<string, unknown>> = {}): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [value].flat().map((item): [string, string] => [name, String(item)]));
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

/**
 * A client that goes through a real gateway over HTTP and checks every answer against the contract.
 * @param options.url address of the instance without `/v1`
 */
export function createApiClient(options: {
  readonly url: string;
  readonly token: string | null;
  /** Default: the whole contract. */
  readonly contract?: Contract;
}): ApiClient {
  const { url, token } = options;
  const contract = options.contract ?? sharedContract();

  const send = async (operation: OperationDefinition, request: LooseRequest): Promise<ApiAnswer<unknown>> => {
    const { body } = request;
    const bearer = request.token === undefined ? token : request.token;
    const response = await fetch(`${url}${pathOf(operation, request.params)}${queryOf(request.query)}`, {
      method: operation.method,
      redirect: 'manual',
      headers: {
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...((operation.body || body !== undefined) && { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const answer: unknown = text === '' ? undefined : JSON.parse(text);
    const { status, headers } = response;
    const wrong = contract.checkResponse(operation.id, status, answer);
    assert(
      wrong.length === 0,
      `${operation.id} answered ${status}, against the contract: ${wrong.join('; ')}\n${text.slice(0, 2000)}`,
    );
    return { status, headers, body: answer };
  };

  return {
    url,
    send,
    async call(operation, request, status) {
      const answer = await send(operation, request as LooseRequest);
      assert.equal(answer.status, status, `${operation.id} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      // Checked against the schema of this status just above.
      return answer as ApiAnswer<never>;
    },
    async refused(operation, request, status) {
      const answer = await send(operation, request);
      assert.equal(answer.status, status, `${operation.id} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return Object(answer.body).error.message;
    },
    as: (other) => createApiClient({ url, token: other, contract }),
  };
}

let shared: Contract | undefined;
const sharedContract = (): Contract => {
  shared ??= createContract(operations);
  return shared;
};
