import type { Dispatcher } from 'undici';
import { Problem } from '../errors.ts';
import type { GivingUp } from './giving-up.ts';

type Headers = Dispatcher.ResponseData['headers'];

/** An answer as its reader sees it, whether it is there or still comes. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly body: {
    text(): Promise<string>;
    json(): Promise<unknown>;
    /** Lets it go unread. */
    dump(): Promise<void>;
  };
}

/** Told of the head of an answer, before its body. */
export type OnHead = (head: Pick<Answer, 'statusCode' | 'headers'>) => void;

/** An answer that has come in whole. */
class WholeAnswer implements Answer {
  readonly statusCode: number;
  readonly headers: Headers;
  readonly #chunks: readonly Buffer[];

  constructor(statusCode: number, headers: Headers, chunks: readonly Buffer[]) {
    this.statusCode = statusCode;
    this.headers = headers;
    this.#chunks = chunks;
  }

  get body(): this {
    return this;
  }

  async text(): Promise<string> {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first.toString() : Buffer.concat(this.#chunks).toString();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async dump(): Promise<void> {}
}

/** Who waits for the answer to one request. */
export interface Waiting {
  readonly onHead: OnHead;
  readonly onAnswer: (answer: Answer) => void;
  readonly onFailed: (error: unknown) => void;
}

const errorOf = (reason: unknown): Error =>
  reason instanceof Error ? reason : new Error('given up', { cause: reason });

/**
 * Takes in the answer to one request whole: what most answers are read for, without the stream that it would be otherwise.
 * What is given up leaves its connection, which is closed unless it waited for nothing.
 */
export class Collector implements Dispatcher.DispatchHandler {
  readonly #giving: GivingUp;
  readonly #waiting: Waiting;
  readonly #chunks: Buffer[] = [];
  #head: Pick<Answer, 'statusCode' | 'headers'> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #giveUp = (): void => this.#controller?.abort(errorOf(this.#giving.reason));

  constructor(giving: GivingUp, waiting: Waiting) {
    this.#giving = giving;
    this.#waiting = waiting;
    giving.once('abort', this.#giveUp);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#giving.aborted) this.#giveUp();
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: Headers): void {
    if (statusCode < 200) return;
    this.#head = { statusCode, headers };
    this.#waiting.onHead(this.#head);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#giving.off('abort', this.#giveUp);
    const { statusCode = 0, headers = {} } = this.#head ?? {};
    this.#waiting.onAnswer(new WholeAnswer(statusCode, headers, this.#chunks));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#giving.off('abort', this.#giveUp);
    this.#waiting.onFailed(this.#head === undefined ? error : brokenOff(error));
  }
}

/** It had begun to answer: nobody else is asked. */
const brokenOff = (cause: Error): Problem =>
  new Problem('unavailable', 'service.unavailable', 'A service cannot be reached at the moment.', {
    retryAfter: 1,
    cause,
  });
