import { Problem } from '@bindery/service-kit';

/** Runs pieces of work one after the other per key. */
export type Serial = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Pieces that may wait for one key. */
const maxWaiting = 200;

/**
 * Work that is decided against the newest revision of something would only be decided again when others are faster. In one
 * process it waits for its turn instead; between processes the streams decide.
 */
export const createSerial = (): Serial => {
  const queues = new Map<string, { last: Promise<unknown>; waiting: number }>();
  return async (key, work) => {
    const queue = queues.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    if (queue.waiting >= maxWaiting)
      throw new Problem('unavailable', 'content.busy', 'Too many changes wait for each other; try again.', {
        retryAfter: 1,
      });
    queues.set(key, queue);
    queue.waiting += 1;
    const turn = queue.last.then(work, work);
    queue.last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(key);
    }
  };
};

/** Key of work on the primary content of a space. */
export const spaceKey = (spaceId: string): string => `space:${spaceId}`;
/** Key of work on a change request; taken after the space's where both are. */
export const changeRequestKey = (changeRequestId: string): string => `change-request:${changeRequestId}`;
