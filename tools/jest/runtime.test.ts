import { createRequire } from 'node:module';
import { afterEach, expect, test } from '@jest/globals';
import NativeEnvironment from './environment.ts';
import NativeRuntime from './runtime.ts';

const listenersKey = Symbol.for('EVENT_HANDLERS');
const listeners: unknown = Reflect.get(globalThis, listenersKey);
afterEach(() => {
  Reflect.set(globalThis, listenersKey, listeners);
});

const framework = createRequire(import.meta.url).resolve('jest-mock');

test('tests that a helper adds to a file that has ended are refused, not lost', () => {
  const ofTheLastFile: ((event: object) => void)[] = [() => undefined];
  Reflect.set(globalThis, listenersKey, ofTheLastFile);
  const runtime = new NativeRuntime({}, new NativeEnvironment());
  expect(runtime.requireInternalModule(framework)).not.toBe(runtime.requireInternalModule(framework));
  expect(Reflect.get(globalThis, listenersKey)).toBeUndefined();
  expect(ofTheLastFile).toHaveLength(1);
  expect(() => ofTheLastFile[0]?.({ name: 'add_test' })).toThrow('a test file that has ended');
});

test('what a file changed of the process is put back after it', async () => {
  process.env.OF_BEFORE = 'before';
  const environment = new NativeEnvironment();
  const { exit } = process;
  const folder = process.cwd();
  environment.moduleMocker.spyOn(Date, 'now').mockReturnValue(3);
  process.env.OF_BEFORE = 'changed';
  process.env.OF_THE_FILE = 'set';
  process.exit = () => {
    throw new Error('exit');
  };
  process.chdir('..');
  expect(Date.now()).toBe(3);
  await environment.teardown();
  expect([process.env.OF_BEFORE, process.env.OF_THE_FILE]).toEqual(['before', undefined]);
  expect([process.exit, process.cwd()]).toEqual([exit, folder]);
  expect(Date.now()).toBeGreaterThan(3);
});
