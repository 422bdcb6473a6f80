/** Ids that can be drawn again: the n-th id of every round is the same. */
export interface RewindableIds {
  readonly next: () => string;
  readonly rewind: () => void;
}

/**
 * What is decided a second time, because others were faster or because a request is repeated after a crash, names its new
 * things as the first time.
 */
export const rewindable = (source: () => string): RewindableIds => {
  const drawn: string[] = [];
  let used = 0;
  return {
    next: () => {
      const id = drawn[used] ?? source();
      drawn[used] = id;
      used += 1;
      return id;
    },
    rewind: () => {
      used = 0;
    },
  };
};
