import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type NativeEnvironment from './environment.ts';
import { setGlobals } from './globals.ts';

const require = createRequire(import.meta.url);
const globals = new URL('./globals.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context),
});

/** Where the test framework keeps its listeners from one copy of itself to the next. */
const listenersKey = Symbol.for('EVENT_HANDLERS');
const timesLoaded = new Map<string, number>();

/**
 * Loads test files the way the product is loaded: by Node itself, types stripped, every module once in a process.
 * Jest's own runtime loads all of them again for each test file, into a context of its own, which took longer than the
 * tests did. The methods are those that `jest-runner` and `jest-circus` call.
 */
export default class NativeRuntime {
  readonly #environment: NativeEnvironment;

  constructor(_config: unknown, environment: NativeEnvironment) {
    this.#environment = environment;
  }

  /** The test framework anew for each file, as its tests and listeners are in its module. */
  requireInternalModule(path: string): unknown {
    const listeners: unknown = Reflect.get(globalThis, listenersKey);
    if (Array.isArray(listeners)) {
      // A helper that is loaded once must not hold on to `test` of the first file: its tests would be nowhere.
      listeners.splice(0, listeners.length, ({ name }: { readonly name: string }) => {
        throw new Error(`${name}: of a test file that has ended. Take "test" and "describe" where they are called.`);
      });
      Reflect.deleteProperty(globalThis, listenersKey);
    }
    delete require.cache[path];
    return require(path);
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  async unstable_importModule(path: string): Promise<unknown> {
    const times = timesLoaded.get(path) ?? 0;
    timesLoaded.set(path, times + 1);
    // Again in the same process: while it is watched.
    return import(`${pathToFileURL(path)}${times === 0 ? '' : `?again=${times}`}`);
  }

  setGlobalsForRuntime(given: Readonly<Record<string, unknown>>): void {
    const mocker = this.#environment.moduleMocker;
    setGlobals({
      ...given,
      jest: {
        fn: mocker.fn.bind(mocker),
        spyOn: mocker.spyOn.bind(mocker),
        restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
      },
    });
  }

  collectV8Coverage(): never {
    throw new Error('Coverage is collected by Node itself, where NODE_V8_COVERAGE names a folder.');
  }

  getAllCoverageInfoCopy(): undefined {}

  /** None: positions stay where they are in the source. */
  getSourceMaps(): ReadonlyMap<string, string> {
    return new Map();
  }

  enterTestCode(): void {}
  leaveTestCode(): void {}
  teardown(): void {}
}
