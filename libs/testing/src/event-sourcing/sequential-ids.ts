import type { IdSource } from '@bindery/service-kit';

/** Ids in a fixed order, in the shapes that the product makes: the same calls give the same ids. */
export const sequentialIds = (seed = 1): IdSource => {
  let ids = 0;
  let events = 0;
  return {
    id: () => {
      ids += 1;
      return `t${String(seed).padStart(9, '0')}x${String(ids).padStart(9, '0')}`;
    },
    eventId: () => {
      events += 1;
      return `00000000-0000-4000-8000-${seed.toString(16).padStart(4, '0')}${events.toString(16).padStart(8, '0')}`;
    },
  };
};
