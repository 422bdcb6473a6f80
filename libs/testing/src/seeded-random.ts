/** Repeatable random numbers: the same seed gives the same test. */
export interface SeededRandom {
  /** 0 <= x < 1 */
  next(): number;
  /** Integer from 0 to below `bound`. */
  below(bound: number): number;
  pick<T>(items: readonly T[]): T;
  shuffle<T>(items: readonly T[]): T[];
}

/** @param seed any integer (mulberry32) */
export const seededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (items.length === 0) throw new RangeError('nothing to pick from');
      return item as (typeof items)[number];
    },
    shuffle: (items) => {
      const shuffled = [...items];
      for (let last = shuffled.length - 1; last > 0; last--) {
        const other = below(last + 1);
        [shuffled[last], shuffled[other]] = [
          shuffled[other] as (typeof items)[number],
          shuffled[last] as (typeof items)[number],
        ];
      }
      return shuffled;
    },
  };
};
