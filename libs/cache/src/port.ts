/** The cache port: answers, limits and locks that may be lost at any time without losing truth. Values are JSON. */
export interface Cache {
  get<T>(key: string): Promise<T | undefined>;
  getMany<T>(keys: readonly string[]): Promise<readonly (T | undefined)[]>;
  /**
   * Stores unless a newer version is there (PITFALLS 42). `version` defaults to 0, where the last write wins among equals.
   * @param ttlMs 1..86_400_000, always given: nothing stays for ever
   */
  set(key: string, value: unknown, options: { readonly ttlMs: number; readonly version?: number }): Promise<void>;
  delete(key: string): Promise<void>;
  /** Adds `by` (default 1) to a counter that starts at 0 and expires `ttlMs` after its first use. Returns the new value. */
  increment(key: string, options: { readonly ttlMs: number; readonly by?: number }): Promise<number>;
  /**
   * Token bucket: takes `cost` tokens. Atomic.
   * @returns whether they were there, how many are left, and milliseconds until the bucket is full / until `cost` is available
   */
  take(
    key: string,
    bucket: { readonly capacity: number; readonly refillPerSecond: number; readonly cost?: number },
  ): Promise<{
    readonly allowed: boolean;
    readonly remaining: number;
    readonly resetMs: number;
    readonly retryAfterMs: number;
  }>;
  /** Takes a lock that expires by itself; the answer carries a growing fencing number, or undefined when it is held. */
  acquire(key: string, holder: string, ttlMs: number): Promise<{ readonly fence: number } | undefined>;
  renew(key: string, holder: string, ttlMs: number): Promise<boolean>;
  release(key: string, holder: string): Promise<void>;
  close(): Promise<void>;
}
