import type { Tracer } from '@bindery/telemetry';
import type { Dispatcher } from 'undici';
import type { GivingUp } from './giving-up.ts';
import { Lane, type Sending } from './lane.ts';
import type { Answer, OnHead } from './whole-answer.ts';
import { serviceTokenHeader, withinHeader } from './wire.ts';

/** A request to a service, whichever replica answers it. */
export interface TransportCall {
  /** Path without what differs from call to call, for spans: `/internal/operations/{operation}`. Default: no span. */
  readonly template?: string;
  /** What the caller gives the span. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly path: string;
  readonly method: Dispatcher.HttpMethod;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: Dispatcher.DispatchOptions['body'];
  /** Of the caller. */
  readonly signal: AbortSignal;
  /** Longest wait for the answer in ms, of a transfer for its head, with the time that a body takes to be sent. Default: that of the transport. */
  readonly timeoutMs?: number;
  /** As long as its caller is slow: it has a connection of its own kind, so that it takes none from others. */
  readonly transfer?: true;
  /** Asking twice does no more than asking once. */
  readonly harmless: boolean;
}

export interface ReplicaOptions {
  /** Address without a trailing slash. */
  readonly url: string;
  /** Shared secret of the instance's services. */
  readonly token: string;
  /** Most connections. */
  readonly connections: number;
  /** Most connections for transfers, beside those. */
  readonly transferConnections: number;
  readonly tracer: Tracer | undefined;
}

/** One that refused or failed is asked last for so long, in ms. */
const avoidMs = 1_000;
/** One that owes answers and gave none for so long, in ms, is asked last too: it may be frozen. */
const silentMs = 1_000;
/** Requests that are given more time than this, in ms, may take it: an import, a rebuild. */
const longMs = 60_000;

/** One replica of a service, as its callers know it. Times are by the monotonic clock. */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly #origin: URL;
  readonly #calls: Lane;
  readonly #transfers: Lane;
  #avoidUntil = 0;
  #owed = 0;
  /** When it answered last, or began to owe. */
  #heardAt = 0;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#origin = new URL(options.url);
    this.#calls = new Lane(this.#origin.origin, options.connections, false);
    this.#transfers = new Lane(this.#origin.origin, options.transferConnections, true);
  }

  /** Requests like this one that it has not answered yet. */
  askedLike(call: Pick<TransportCall, 'transfer'>): number {
    return this.#laneOf(call).asked;
  }

  /** Whether others should be asked first. */
  isDoubtful(now: number): boolean {
    return this.#avoidUntil > now || (this.#owed > 0 && now - this.#heardAt > silentMs);
  }

  /** Lets others be asked first for a moment. */
  avoid(): void {
    this.#avoidUntil = performance.now() + avoidMs;
  }

  /** Gives up all idle connections: it is about to close them, and what is sent at that moment would be lost. */
  leave(): void {
    this.#calls.leave();
    this.#transfers.leave();
  }

  /**
   * Sends a request.
   * @param withinMs longest wait for the answer, of which the replica is told
   * @param onHead told of the head of the answer, which comes when all of it is there; of a transfer, with its head
   * @throws why it is given up, as soon as it is, and what the connection fails with
   */
  async send(call: TransportCall, withinMs: number, giving: GivingUp, onHead: OnHead): Promise<Answer> {
    // What is known to take long says nothing about it.
    let counted = withinMs <= longMs;
    const now = performance.now();
    if (this.#owed === 0) this.#heardAt = now;
    if (counted) this.#owed += 1;
    const settled = (): void => {
      if (counted) this.#owed -= 1;
      counted = false;
    };
    const heard: OnHead = (head) => {
      this.#heardAt = performance.now();
      settled();
      onHead(head);
    };
    try {
      return await this.#traced(call, (traceparent) => {
        const sending = (leftMs: number): Sending => this.#sending(call, traceparent, leftMs);
        return call.transfer === true
          ? this.#transfer(now + withinMs, giving, sending, heard)
          : this.#calls.whole(now + withinMs, giving, sending, heard);
      });
    } finally {
      settled();
    }
  }

  async #transfer(
    until: number,
    giving: GivingUp,
    sending: (leftMs: number) => Sending,
    heard: OnHead,
  ): Promise<Dispatcher.ResponseData> {
    const response = await this.#transfers.request(until, giving, sending);
    heard(response);
    return response;
  }

  #sending(call: TransportCall, traceparent: string | undefined, leftMs: number): Sending {
    const headers: Record<string, string | string[]> = { ...call.headers };
    if (traceparent !== undefined) headers.traceparent = traceparent;
    headers[serviceTokenHeader] = this.#options.token;
    headers[withinHeader] = String(leftMs);
    return { path: call.path, method: call.method, headers, body: call.body ?? null };
  }

  async close(): Promise<void> {
    await Promise.all([this.#calls.close(), this.#transfers.close()]);
  }

  #laneOf({ transfer }: Pick<TransportCall, 'transfer'>): Lane {
    return transfer === true ? this.#transfers : this.#calls;
  }

  /** A client span by the conventions for HTTP; calls outside a trace (polls) get none. */
  #traced(call: TransportCall, request: (traceparent: string | undefined) => Promise<Answer>): Promise<Answer> {
    const { tracer } = this.#options;
    const { template, attributes, method, headers } = call;
    const given = headers.traceparent;
    const parent = tracer?.current() ?? (typeof given === 'string' ? given : undefined);
    if (tracer?.enabled !== true || template === undefined || parent === undefined) return request(undefined);
    const { hostname, port } = this.#origin;
    const own = {
      'http.request.method': method,
      'url.template': template,
      'server.address': hostname,
      ...(port === '' ? {} : { 'server.port': Number(port) }),
    };
    return tracer.span(
      `${method} ${template}`,
      { kind: 'client', parent, attributes: { ...own, ...attributes } },
      async (span) => {
        const response = await request(span.traceparent);
        span.set('http.response.status_code', response.statusCode);
        if (response.statusCode >= 500) span.fail(new Error('answered'));
        return response;
      },
    );
  }
}
