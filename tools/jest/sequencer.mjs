import TestSequencer from '@jest/test-sequencer';

/** Suites that start the product, most of them as processes: they take the longest. */
const long = /[\\/](infra[\\/]e2e|services[\\/]standalone)[\\/]/;

/**
 * Suites that take long begin first, also in a fresh clone, where jest knows no durations yet: else one of them is left over
 * when everything else is done, and the other workers have nothing to do.
 */
export default class LongestFirst extends TestSequencer {
  /** @param {Parameters<TestSequencer['sort']>[0]} tests */
  async sort(tests) {
    const sorted = await super.sort(tests);
    const [first, others] = [true, false].map((is) => sorted.filter(({ path }) => long.test(path) === is));
    return [...first, ...others];
  }
}
