import { Metadata, type StatusObject, status } from '@grpc/grpc-js';

/** Calls that a fault can hit. */
export type FaultTarget = 'append' | 'read' | 'subscribe' | 'gossip';

/** What goes wrong. The first group refuses, the second hides what was done, the third only takes time. */
export type FaultKind =
  | 'unavailable'
  | 'not-ready'
  | 'too-busy'
  | 'timeout'
  | 'not-leader'
  | 'denied'
  | 'too-large'
  | 'unknown'
  | 'cancelled'
  | 'lost-answer'
  | 'silent-after-commit'
  /** An append is said to be written, at revision 1, and is not. */
  | 'false-success'
  /** An append is written, and its answer names no position. */
  | 'no-position'
  | 'silent'
  | 'slow';

export interface Fault {
  readonly kind: FaultKind;
  /** Which calls; all by default. */
  readonly on?: readonly FaultTarget[];
  /** How many calls; until `clear` by default. */
  readonly times?: number;
  /** For `slow`, in ms. Default 1,000. */
  readonly delayMs?: number;
}

const STATUSES: { readonly [kind in FaultKind]?: readonly [code: status, details: string, exception?: string] } = {
  unavailable: [status.UNAVAILABLE, 'No connection established'],
  'not-ready': [status.UNAVAILABLE, 'Server Is Not Ready'],
  'too-busy': [status.UNAVAILABLE, 'Server Is Too Busy'],
  timeout: [status.ABORTED, 'Operation timed out'],
  'not-leader': [status.NOT_FOUND, 'Leader info available', 'not-leader'],
  denied: [status.PERMISSION_DENIED, 'Access Denied', 'access-denied'],
  'too-large': [status.INVALID_ARGUMENT, 'Maximum Append Size Exceeded', 'maximum-append-size-exceeded'],
  unknown: [status.UNKNOWN, 'Exception was thrown by handler.'],
  cancelled: [status.CANCELLED, 'The operation was canceled.'],
  'lost-answer': [status.UNAVAILABLE, 'Connection dropped'],
};

/** An error of the server with what the client library reads from its trailers. */
export const failure = (
  code: status,
  details: string,
  trailers: Readonly<Record<string, string>> = {},
): StatusObject & Error => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(trailers)) metadata.set(key, value);
  return Object.assign(new Error(details), { code, details, metadata });
};

/** The faults that are due, oldest first. */
export class Faults {
  #active: (Fault & { left: number })[] = [];

  add(fault: Fault): void {
    this.#active.push({ ...fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  clear(): void {
    this.#active = [];
  }

  get count(): number {
    return this.#active.length;
  }

  /** The fault that hits this call, if any; it is used up by it. */
  take(target: FaultTarget): Fault | undefined {
    const fault = this.#active.find(({ on }) => on === undefined || on.includes(target));
    if (fault === undefined) return undefined;
    fault.left -= 1;
    if (fault.left <= 0) this.#active = this.#active.filter((other) => other !== fault);
    return fault;
  }

  /** How the server refuses what is too large. */
  static tooLarge(what: 'append' | 'event', most = 0): Error {
    if (what === 'append')
      return failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${most} Exceeded.`, {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': String(most),
      });
    return failure(status.INVALID_ARGUMENT, 'exceeds Maximum Append Event Size', {
      exception: 'maximum-append-event-size-exceeded',
    });
  }

  /** How the server refuses, when that is what the fault is about. */
  static refusal(kind: FaultKind, leader: { readonly host: string; readonly port: number }): Error | undefined {
    const found = STATUSES[kind];
    if (found === undefined) return undefined;
    const [code, details, exception] = found;
    return failure(code, details, {
      ...(exception === undefined ? {} : { exception }),
      ...(exception === 'not-leader'
        ? { 'leader-endpoint-host': leader.host, 'leader-endpoint-port': String(leader.port) }
        : {}),
      ...(exception === 'maximum-append-size-exceeded' ? { 'maximum-append-size': '1048576' } : {}),
    });
  }
}
