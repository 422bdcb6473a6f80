import base from './jest.config.mjs';

/**
 * Tests on running servers and processes, one file after the other: they share both.
 * @type {import('jest').Config}
 */
export default { ...base, testPathIgnorePatterns: ['/node_modules/'], testTimeout: 120_000, maxWorkers: 1 };
