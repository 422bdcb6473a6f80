import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { HOST } from './ports.ts';

/**
 * What happens to the bytes.
 * - `none`: they pass.
 * - `slow`: each piece, in either direction, arrives `latencyMs` later; order is kept.
 * - `half`: of the next answer only the first half of the bytes arrives, then the connection is cut; then `none`.
 * - `silent`: connections stay open and new ones are taken, but nothing passes; what was sent meanwhile passes later.
 * - `cut`: connections are reset, new ones too.
 */
export type ProxyFault =
  | { readonly kind: 'none' }
  | { readonly kind: 'slow'; readonly latencyMs: number }
  | { readonly kind: 'half' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'cut' };

export interface ProxyOptions {
  /** Where the server listens, `host:port` (a host is not needed: this machine's). */
  readonly targetPort: number;
  /** Where the proxy listens; 0 (default): a free one. */
  readonly port?: number;
}

/** Bytes that a direction holds back at most before it stops reading. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;

/** One direction of a connection. Pieces leave in the order in which they came, each when it is due. */
class Direction {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #fault: () => ProxyFault;
  readonly #onHalf: () => void;
  readonly #answers: boolean;
  readonly #held: { readonly bytes: Buffer; readonly due: number }[] = [];
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(from: Socket, to: Socket, answers: boolean, fault: () => ProxyFault, onHalf: () => void) {
    this.#from = from;
    this.#to = to;
    this.#answers = answers;
    this.#fault = fault;
    this.#onHalf = onHalf;
    from.on('data', (bytes: Buffer) => this.#take(bytes));
    from.on('end', () => {
      this.#ended = true;
      this.flush();
    });
  }

  #take(bytes: Buffer): void {
    const fault = this.#fault();
    if (fault.kind === 'half' && this.#answers) {
      this.#onHalf();
      this.#to.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => {
        this.#to.resetAndDestroy();
        this.#from.resetAndDestroy();
      });
      return;
    }
    this.#held.push({ bytes, due: performance.now() + (fault.kind === 'slow' ? fault.latencyMs : 0) });
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= MAX_HELD_BYTES) this.#from.pause();
    this.flush();
  }

  /** Sends what is due, unless nothing may pass; looks again when the next piece is. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#fault().kind === 'silent') return;
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      const wait = first.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.flush(), wait);
        return;
      }
      this.#held.shift();
      this.#heldBytes -= first.bytes.length;
      if (!this.#to.write(first.bytes)) {
        this.#from.pause();
        this.#to.once('drain', () => this.flush());
        return;
      }
    }
    if (this.#ended) this.#to.end();
    else this.#from.resume();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#held.length = 0;
  }
}

/** A TCP proxy on this machine that does to the bytes what bad networks do. */
export class TcpProxy {
  readonly #server: Server;
  readonly #targetPort: number;
  readonly #pairs = new Set<{ readonly sockets: readonly Socket[]; readonly directions: readonly Direction[] }>();
  #fault: ProxyFault = { kind: 'none' };
  #taken = 0;

  /** Use {@link startProxy}. */
  constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#connect(client));
  }

  /** @param port 0: a free one */
  async listen(port: number): Promise<void> {
    this.#server.listen(port, HOST);
    await once(this.#server, 'listening');
  }

  /** Where it listens. */
  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed');
    return address.port;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#pairs.size;
  }

  /** Connections that clients have made since it was started. */
  get connectionsTaken(): number {
    return this.#taken;
  }

  /** From now on this happens to all connections, also to those that are open. */
  setFault(fault: ProxyFault): void {
    this.#fault = fault;
    if (fault.kind === 'cut') this.#cutAll();
    for (const { directions } of this.#pairs) for (const direction of directions) direction.flush();
  }

  /** Takes every fault away; what was held back passes. */
  heal(): void {
    this.setFault({ kind: 'none' });
  }

  /** Resets the connections that are open now; new ones pass. */
  cutOnce(): void {
    this.#cutAll();
  }

  /** Cuts all and listens no more. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#cutAll();
    await closed;
  }

  #cutAll(): void {
    for (const { sockets } of this.#pairs) for (const socket of sockets) socket.resetAndDestroy();
  }

  #connect(client: Socket): void {
    this.#taken += 1;
    if (this.#fault.kind === 'cut') {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: HOST, port: this.#targetPort, allowHalfOpen: true, noDelay: true });
    client.setNoDelay(true);
    const fault = (): ProxyFault => this.#fault;
    const onHalf = (): void => {
      if (this.#fault.kind === 'half') this.#fault = { kind: 'none' };
    };
    const directions = [
      new Direction(client, server, false, fault, onHalf),
      new Direction(server, client, true, fault, onHalf),
    ];
    const pair = { sockets: [client, server], directions };
    this.#pairs.add(pair);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      // A reset on one side is a reset on the other: the reason is the caller's to see there.
      socket.on('error', () => other.resetAndDestroy());
      socket.on('close', () => {
        for (const direction of directions) direction.stop();
        this.#pairs.delete(pair);
        other.destroy();
      });
    }
  }
}

/** Starts a proxy in front of a server on this machine. */
export const startProxy = async ({ targetPort, port = 0 }: ProxyOptions): Promise<TcpProxy> => {
  const proxy = new TcpProxy(targetPort);
  await proxy.listen(port);
  return proxy;
};
