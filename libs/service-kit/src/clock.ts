/** The time, injected everywhere (DESIGN section 8). */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
