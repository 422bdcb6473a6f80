import { ChildScript } from '../faults/index.ts';
import { freePort } from './double.ts';
import type { Fault } from './faults.ts';

interface Ready {
  readonly port: number;
  readonly controlPort: number;
}

/** A double that is a process of its own: it can be killed, frozen and started again on its port with its data. */
export class EventStoreDbProcess {
  readonly #directory: string;
  readonly #port: number;
  #child: ChildScript | undefined;
  #controlPort = 0;

  private constructor(directory: string, port: number) {
    this.#directory = directory;
    this.#port = port;
  }

  /** @param directory of its data; made when absent */
  static async start(directory: string): Promise<EventStoreDbProcess> {
    const server = new EventStoreDbProcess(directory, await freePort());
    await server.start();
    return server;
  }

  get connectionString(): string {
    return `esdb://127.0.0.1:${this.#port}?tls=false`;
  }

  /** Starts it again, after `kill`. */
  async start(): Promise<void> {
    const script = new URL('./main.ts', import.meta.url);
    this.#child = new ChildScript(script, ['--port', String(this.#port), '--data', this.#directory]);
    await this.#child.untilLines(1);
    const { controlPort } = JSON.parse(this.#child.lines[0] ?? '') as Ready;
    this.#controlPort = controlPort;
  }

  /** Ends it as a power cut would. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  /** Freezes it until `resume`. */
  async pause(): Promise<void> {
    await this.#child?.pause();
  }

  resume(): void {
    this.#child?.resume();
  }

  /** Adds a fault through its control port. */
  async fault(fault: Fault): Promise<void> {
    const body = JSON.stringify(fault);
    const answer = await fetch(`http://127.0.0.1:${this.#controlPort}/faults`, { method: 'POST', body });
    if (!answer.ok) throw new Error(`the double refused a fault: ${await answer.text()}`);
  }
}
