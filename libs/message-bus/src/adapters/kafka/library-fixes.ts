import { createRequire } from 'node:module';

/** What of the library's queue of requests is touched here. */
interface RequestQueue {
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  readonly pending: readonly unknown[];
  checkPendingRequests(): void;
}

const CHECK_MS = 10;

let applied = false;

/**
 * Version 2.2.4 of the library, its last, looks at the queue of each connection 1,000 times a second for ever: it sets a
 * timer for a time long past, which also makes Node complain. Here the timer is set only when something waits.
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
};

interface RequestQueueMethods {
  scheduleCheckPendingRequests(this: RequestQueue): void;
}
