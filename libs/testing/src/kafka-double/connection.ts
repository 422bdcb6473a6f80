import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { KAFKA_ERRORS } from './error-codes.ts';
import type { FaultsOfNode, KafkaFault } from './faults.ts';
import type { Answer, Api, Broker } from './requests.ts';
import { WireReader, WireWriter } from './wire.ts';

const API_VERSIONS = { key: 18, versions: [0, 2] } as const;
const MAX_REQUEST_BYTES = 100 * 1024 * 1024;

export interface ConnectionOptions {
  readonly apis: readonly Api[];
  readonly broker: Broker;
  readonly faults: FaultsOfNode;
  readonly count: (name: string) => void;
}

/** The requests that are understood, and which versions of each; version 0 of the answer has no throttle time. */
const versionsAnswer = (apis: readonly Api[], version: number, error: number): WireWriter => {
  const answer = new WireWriter().int16(error);
  answer.array([...apis, API_VERSIONS], ({ key, versions: [least, most] }) =>
    answer.int16(key).int16(least).int16(most),
  );
  return version >= 1 ? answer.int32(0) : answer;
};

/** A client's connection: one request after the other, each answered before the next is looked at, as a broker does. */
export class Connection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #ended = new AbortController();
  #received: Buffer = Buffer.alloc(0);
  #work: Promise<void> = Promise.resolve();

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    // A client that goes away in the middle is what tests do.
    socket.on('error', () => {});
    socket.on('close', () => this.#ended.abort());
    socket.on('data', (bytes) => this.#take(bytes));
  }

  cut(): void {
    this.#ended.abort();
    this.#socket.resetAndDestroy();
  }

  #take(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= 4) {
      const end = 4 + this.#received.readInt32BE(0);
      if (end < 4 || end > MAX_REQUEST_BYTES) this.cut();
      if (this.#ended.signal.aborted || this.#received.length < end) return;
      const request = this.#received.subarray(4, end);
      this.#received = this.#received.subarray(end);
      this.#work = this.#work.then(() => this.#serve(request)).catch(() => this.cut());
    }
  }

  async #serve(bytes: Buffer): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const request = new WireReader(bytes);
    const [key, version, correlation] = [request.int16(), request.int16(), request.int32()];
    const clientId = request.string();
    const { apis, broker, faults, count } = this.#options;
    if (key === API_VERSIONS.key) {
      const known = version <= API_VERSIONS.versions[1];
      count('ApiVersions');
      const fault = faults.take('ApiVersions');
      const answer = versionsAnswer(apis, known ? version : 0, known ? 0 : KAFKA_ERRORS.UNSUPPORTED_VERSION);
      return await this.#answer(correlation, fault, () => answer);
    }
    const api = apis.find((each) => each.key === key);
    // A broker hangs up on what it does not know; the client was told the versions.
    if (api === undefined || version < api.versions[0] || version > api.versions[1]) return this.cut();
    count(api.name);
    const fault = faults.take(api.name);
    const forced = fault?.kind === 'error' ? fault.code : undefined;
    const context = { ...broker, clientId, version, forced, signal: this.#ended.signal };
    await this.#answer(correlation, fault, () => api.handle(request, context));
  }

  async #answer(
    correlation: number,
    fault: KafkaFault | undefined,
    work: () => Answer | Promise<Answer>,
  ): Promise<void> {
    const { signal } = this.#ended;
    if (fault?.kind === 'disconnect') return this.cut();
    if (fault?.kind === 'silent') return await forever(signal);
    if (fault?.kind === 'slow') await delay(fault.delayMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const answer = await work();
    if (fault?.kind === 'lost-answer') return this.cut();
    if (fault?.kind === 'silent-after-commit') return await forever(signal);
    if (answer === undefined || signal.aborted) return;
    const body = answer.toBuffer();
    this.#socket.write(
      new WireWriter()
        .int32(body.length + 4)
        .int32(correlation)
        .raw(body)
        .toBuffer(),
    );
  }
}

/** Until the connection ends. */
const forever = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
