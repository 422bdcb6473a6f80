/** A cache that forgets what was used longest ago once the weights exceed a sum. */
export class WeightedLru<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly weight: number }>();
  readonly #limit: number;
  #weight = 0;

  /** @param limit sum of weights, in the unit of `set`; a single heavier entry is not kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, weight: number): void {
    this.#forget(key);
    if (weight > this.#limit) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#limit) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }
}
