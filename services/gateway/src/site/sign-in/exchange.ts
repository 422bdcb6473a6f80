import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Contract, OperationId, operations } from '@bindery/contracts';
import type { RawRoute, RawRouteContext } from '@bindery/service-kit';
import {
  isProblem,
  type OperationAnswer,
  type OperationContext,
  type OperationRequest,
  type Principal,
} from '@bindery/service-kit';
import { errorHeaders, statusOf } from '../../http/errors.ts';
import type { ResolveToken } from '../../pipeline/authenticate.ts';
import { RequestScope } from '../../pipeline/context.ts';
import type { CallOperation } from '../../pipeline/embeds.ts';
import type { RateLimiter } from '../../pipeline/rate-limit.ts';
import { principalOfSession, requireOwnPage } from '../../pipeline/session.ts';
import { type Form, readForm } from './form.ts';
import { type Html, page, pageHeaders } from './html.ts';
import { failedMain } from './pages.ts';

export interface SiteParts {
  readonly contract: Contract;
  readonly call: CallOperation;
  readonly resolveSession: ResolveToken;
  readonly limiter: RateLimiter;
  readonly config: { readonly trustedProxyHops: number; readonly requestDeadlineMs: number };
}

/** One request of a browser to a page. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  readonly context: OperationContext;
  /** Address and browser, as the operations of signing in take them. */
  readonly client: { readonly address: string; readonly userAgent?: string };
  readonly form: () => Promise<Form>;
  /** Who is signed in; undefined when nobody is. */
  readonly signedIn: () => Promise<Principal | undefined>;
  /** Calls an operation, for the gateway itself or for somebody. */
  readonly call: <K extends OperationId>(
    id: K,
    request: Partial<OperationRequest<(typeof operations)[K]>>,
    principal?: Principal,
  ) => Promise<OperationAnswer<(typeof operations)[K]>>;
}

/** What a page answers: a page or somewhere else to go. */
export type PageAnswer =
  | { readonly title: string; readonly main: Html; readonly status?: number; readonly cookies?: readonly string[] }
  | { readonly goTo: string; readonly cookies?: readonly string[] };

/** Status and message of a refusal, for a page that shows it. Other failures are thrown on. */
export const refusalOf = (error: unknown): { readonly status: number; readonly message: string } => {
  if (!isProblem(error) || error.kind === 'internal') throw error;
  return { status: statusOf[error.kind], message: error.message };
};

/** Makes routes of pages; every POST must come from a page of this instance (CSRF, also of signing in). */
export const createPageRoute =
  (parts: SiteParts) =>
  (method: 'GET' | 'POST', path: string, answer: (exchange: Exchange) => Promise<PageAnswer>): RawRoute => ({
    method,
    path,
    async handle(request, response, context) {
      try {
        if (method === 'POST') requireOwnPage(request, context.baseUrl);
        write(response, await answer(exchangeOf(parts, request, response, context)));
      } catch (error) {
        const { status, message } = refusalOf(error);
        write(
          response,
          { title: 'That did not work', main: failedMain(message), status },
          isProblem(error) ? errorHeaders(error) : {},
        );
      }
    },
  });

const exchangeOf = (
  { contract, call, resolveSession, limiter, config }: SiteParts,
  request: IncomingMessage,
  response: ServerResponse,
  { requestId, now, baseUrl, address, params, query }: RawRouteContext,
): Exchange => {
  const scope = new RequestScope(response, { requestId, now, baseUrl, deadlineMs: config.requestDeadlineMs });
  const userAgent = request.headers['user-agent']?.slice(0, 2048);
  const context = scope.internal();
  return {
    request,
    params,
    query: new URLSearchParams(query),
    rawQuery: query,
    context,
    client: { address, ...(userAgent === undefined ? {} : { userAgent }) },
    form: () => readForm(request, response),
    async signedIn() {
      try {
        const principal = await principalOfSession(request, context, resolveSession, address);
        if (principal !== undefined) await limiter.request(principal.tokenId);
        return principal;
      } catch (error) {
        if (isProblem(error) && error.kind === 'unauthenticated') return undefined;
        throw error;
      }
    },
    call: async (id, given, principal) => {
      const asked = principal === undefined ? context : scope.context(principal);
      const whole = { params: {}, query: {}, body: undefined, ...given };
      // The operation's own types say what it takes and answers; the gateway's client erases them.
      return (await call(contract.operation(id), asked, whole)) as never;
    },
  };
};

const write = (response: ServerResponse, answer: PageAnswer, headers: Readonly<Record<string, string>> = {}): void => {
  const cookies = answer.cookies ?? [];
  const all = { ...pageHeaders, ...headers, ...(cookies.length > 0 && { 'set-cookie': [...cookies] }) };
  if ('goTo' in answer) {
    response.writeHead(303, { ...all, location: answer.goTo, 'content-length': 0 }).end();
    return;
  }
  const body = page(answer.title, answer.main);
  response.writeHead(answer.status ?? 200, { ...all, 'content-length': Buffer.byteLength(body) });
  response.end(response.req.method === 'HEAD' ? undefined : body);
};
