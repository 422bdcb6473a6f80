import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until `condition` holds. A throw counts as "not yet", and is the reason given when time is up.
 * @param timeoutMs default 10 s: far above what the condition needs, so that a slow machine does not fail the test
 */
export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
): Promise<void> => {
  const end = performance.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      if (await condition()) return;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`, { cause });
    await delay(5);
  }
};
