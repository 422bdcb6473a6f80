/**
 * What `@jest/globals` is for test files that run natively (see `runtime.ts`): live bindings to the functions of the file
 * that runs. Its types stay those of the package.
 */
export let afterAll: unknown;
export let afterEach: unknown;
export let beforeAll: unknown;
export let beforeEach: unknown;
export let describe: unknown;
export let expect: unknown;
export let it: unknown;
export let jest: unknown;
export let test: unknown;

/** Called before a test file is loaded. */
export const setGlobals = (given: Readonly<Record<string, unknown>>): void => {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = given);
};
