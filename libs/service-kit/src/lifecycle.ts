/** Something that is started with the process and stopped before it ends. */
export interface Part {
  readonly name: string;
  readonly start?: () => Promise<void>;
  readonly stop?: () => Promise<void>;
  /** Time for `stop`, in ms. Default 5000. */
  readonly stopWithinMs?: number;
}

export interface Lifecycle {
  /**
   * Starts the parts in order. When one fails, those that were started are stopped again and its error is thrown; when `stop`
   * is called meanwhile, no further one is started.
   */
  start(): Promise<void>;
  /** Stops in reverse order, each within its time. Idempotent. @returns the names of parts that failed or took too long */
  stop(): Promise<readonly string[]>;
}

const defaultStopMs = 5000;

/**
 * Starts and stops the parts of a process (PITFALLS 45): the order of the list is the order of dependence.
 * @param report told about every part that does not stop
 */
export function createLifecycle(parts: readonly Part[], report: (part: string, error: unknown) => void): Lifecycle {
  let started = 0;
  let stopping: Promise<readonly string[]> | undefined;

  const stopOne = async (part: Part): Promise<boolean> => {
    if (!part.stop) return true;
    const within = part.stopWithinMs ?? defaultStopMs;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`did not stop within ${within} ms`)), within);
    });
    try {
      await Promise.race([part.stop(), late]);
      return true;
    } catch (error) {
      report(part.name, error);
      return false;
    } finally {
      clearTimeout(timer);
    }
  };

  const stopAll = async (): Promise<readonly string[]> => {
    const failed: string[] = [];
    while (started > 0) {
      started -= 1;
      const part = parts[started];
      if (part && !(await stopOne(part))) failed.push(part.name);
    }
    return failed;
  };

  return {
    async start() {
      for (const part of parts.slice(started)) {
        if (stopping !== undefined) return;
        started += 1;
        try {
          await part.start?.();
        } catch (error) {
          // Stopped in the middle of its start: `stop` is at it.
          if (stopping === undefined) {
            started -= 1;
            await stopAll();
          }
          throw error;
        }
      }
    },
    stop() {
      stopping ??= stopAll();
      return stopping;
    },
  };
}
