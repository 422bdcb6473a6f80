interface Bucket {
  tokens: number;
  at: number;
}

/** Token buckets of this process: what limits fall back to while the cache is away (DESIGN section 10). Bounded. */
export class LocalBuckets {
  readonly #buckets = new Map<string, Bucket>();
  readonly #maxKeys: number;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** @param now monotonic, in ms */
  take(
    key: string,
    rule: { readonly capacity: number; readonly refillPerSecond: number },
    now: number,
  ): {
    readonly allowed: boolean;
    readonly remaining: number;
    readonly resetMs: number;
    readonly retryAfterMs: number;
  } {
    const known = this.#buckets.get(key);
    const refilled = known ? known.tokens + ((now - known.at) / 1000) * rule.refillPerSecond : rule.capacity;
    const before = Math.min(rule.capacity, refilled);
    const allowed = before >= 1;
    const tokens = allowed ? before - 1 : before;
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens, at: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > this.#maxKeys && oldest !== undefined) this.#buckets.delete(oldest);
    return {
      allowed,
      remaining: Math.floor(tokens),
      resetMs: ((rule.capacity - tokens) / rule.refillPerSecond) * 1000,
      retryAfterMs: allowed ? 0 : ((1 - tokens) / rule.refillPerSecond) * 1000,
    };
  }
}
