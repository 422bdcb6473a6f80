import { createRequire } from 'node:module';

/** What of the library's queue of requests is touched here. */
interface RequestQueue {
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  readonly enforceRequestTimeout: boolean;
  readonly inflight: ReadonlyMap<unknown, SentRequest>;
  readonly pending: readonly unknown[];
  checkPendingRequests(): void;
  destroy(): void;
  isConnected(): boolean;
}

interface SentRequest {
  /** In ms since 1970. */
  readonly sentAt: number;
  readonly requestTimeout: number;
  timeoutRequest(): void;
}

interface RequestQueueMethods {
  scheduleCheckPendingRequests(this: RequestQueue): void;
  scheduleRequestTimeoutCheck(this: RequestQueue): void;
  destroy(this: RequestQueue): void;
}

const CHECK_MS = 10;
/** How late a request that is not answered may be found out, in ms. */
const TIMEOUTS_MS = 200;

let applied = false;

/**
 * Version 2.2.4 of the library, its last, looks at the queue of each connection 1,000 times a second for ever: it sets a
 * timer for a time long past, which also makes Node complain. Here the timer is set only when something waits. And each
 * connection looks for requests that were not answered in time with a timer of its own, 10 times a second: here one timer
 * looks for all of them.
 */
export const applyLibraryFixes = (): void => {
  if (applied) return;
  applied = true;
  const load = createRequire(import.meta.url);
  const { prototype } = load('kafkajs/src/network/requestQueue') as { readonly prototype: RequestQueueMethods };
  prototype.scheduleCheckPendingRequests = function scheduleCheckPendingRequests(this: RequestQueue): void {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
    const wait = Math.max(CHECK_MS, this.throttledUntil - Date.now());
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, wait);
  };
  shareTimeouts(prototype);
};

const shareTimeouts = (prototype: RequestQueueMethods): void => {
  const queues = new Set<RequestQueue>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = Date.now();
    for (const queue of [...queues]) {
      for (const request of [...queue.inflight.values()])
        if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
      if (!queue.isConnected()) queue.destroy();
    }
  };
  const { destroy } = prototype;
  prototype.destroy = function destroyQueue(this: RequestQueue): void {
    queues.delete(this);
    if (queues.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
    destroy.call(this);
  };
  prototype.scheduleRequestTimeoutCheck = function scheduleRequestTimeoutCheck(this: RequestQueue): void {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    queues.add(this);
    timer ??= setInterval(look, TIMEOUTS_MS);
  };
};
