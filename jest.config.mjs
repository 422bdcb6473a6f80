import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// What was stripped and compiled is kept where the product keeps it too: for workers, for what they start, for the next run.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/bindery', import.meta.url));
enableCompileCache(process.env.NODE_COMPILE_CACHE);

/**
 * One jest run for the whole workspace. Test files and sources are loaded by Node as they are (`tools/jest/runtime.ts`), so
 * what one file does to the modules of the product is seen by the next one: they keep no state.
 * @type {import('jest').Config}
 */
export default {
  testEnvironment: '<rootDir>/tools/jest/environment.ts',
  runtime: '<rootDir>/tools/jest/runtime.ts',
  testSequencer: '<rootDir>/tools/jest/sequencer.mjs',
  injectGlobals: false,
  transform: {},
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/tools', '<rootDir>/infra', '<rootDir>/examples'],
  testMatch: ['**/*.test.ts'],
  // Those need servers: `npm run test:distributed` runs them.
  testPathIgnorePatterns: ['/node_modules/', '\\.distributed\\.test\\.ts$'],
  reporters: ['default', '<rootDir>/tools/jest-summary.mjs'],
  testTimeout: 30_000,
  maxWorkers: 2,
};
