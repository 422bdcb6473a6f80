import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A TypeScript file that runs as a process of its own, as production code would. */
export class ChildScript {
  /** Complete lines of its standard output so far. A line that was cut off by a kill is not among them. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  readonly #ended: Promise<unknown>;
  #errors = '';
  #wake: (() => void) | undefined;

  /** @param script `new URL('./child.ts', import.meta.url)`; @param args what it finds in `process.argv` from index 2 on */
  constructor(script: URL, args: readonly string[]) {
    const flags = ['--disable-warning=ExperimentalWarning', fileURLToPath(script)];
    const child = spawn(process.execPath, [...flags, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#closed = once(child, 'close');
    this.#ended = Promise.all([this.#closed, this.#read(child.stdout)]);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-10_000);
    });
  }

  async #read(output: Readable): Promise<void> {
    let rest = '';
    const lines = createInterface({ input: output.setEncoding('utf8').on('data', (text: string) => (rest = text)) });
    for await (const line of lines) {
      this.lines.push(line);
      this.#wake?.();
    }
    if (rest !== '' && !rest.endsWith('\n')) this.lines.pop();
    this.#wake?.();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits until it has printed so many lines. @throws when it ends before, with what it wrote to standard error */
  async untilLines(count: number): Promise<void> {
    while (this.lines.length < count) {
      if (!this.running) {
        await this.#ended;
        if (this.lines.length >= count) return;
        throw new Error(`the script ended after ${this.lines.length} lines: ${this.#errors}`);
      }
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#wake = resolve;
        }),
        this.#closed,
      ]);
    }
  }

  /** Waits for its own end. @throws when it fails */
  async end(): Promise<void> {
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`the script failed (${this.#child.exitCode}): ${this.#errors}`);
  }

  /** Ends it without any warning, as a power cut would; waits until it is gone. @throws when it had failed before */
  async kill(): Promise<void> {
    if (!this.running && this.#child.exitCode !== 0) await this.end();
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Takes its processor time away (a frozen machine), until `resume`. Resolves when it stands still (seen on Linux only). */
  async pause(): Promise<void> {
    this.#child.kill('SIGSTOP');
    const state = `/proc/${this.pid}/stat`;
    while (existsSync(state) && !/\) [Tt] /.test(await readFile(state, 'utf8'))) await nextTurn();
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }
}
