import { flushCompileCache } from 'node:module';
import { ModuleMocker } from 'jest-mock';

/**
 * The process itself as the environment of a test file, instead of a context of its own with copies of all globals.
 * What a file changes of the process is put back after it.
 */
export default class NativeEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;
  readonly #console = globalThis.console;
  readonly #exit = process.exit;
  readonly #env = { ...process.env };
  readonly #folder = process.cwd();

  /** Never asked for: the runtime loads modules natively. */
  getVmContext(): null {
    return null;
  }

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    this.moduleMocker.restoreAllMocks();
    globalThis.console = this.#console;
    process.exit = this.#exit;
    process.chdir(this.#folder);
    for (const name of Object.keys(process.env)) if (!(name in this.#env)) delete process.env[name];
    Object.assign(process.env, this.#env);
    // Workers are ended by a signal, before Node would write it.
    flushCompileCache();
  }
}
