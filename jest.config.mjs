/**
 * One jest run for the whole workspace. Sources are ES modules in TypeScript; swc strips the types, nothing is built.
 * @type {import('jest').Config}
 */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/tools', '<rootDir>/infra', '<rootDir>/examples'],
  testMatch: ['**/*.test.ts'],
  // Those need servers: `npm run test:distributed` runs them.
  testPathIgnorePatterns: ['/node_modules/', '\\.distributed\\.test\\.ts$'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' }, sourceMaps: 'inline' },
    ],
  },
  reporters: ['default', '<rootDir>/tools/jest-summary.mjs'],
  testTimeout: 30_000,
  maxWorkers: 2,
};
