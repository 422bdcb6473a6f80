import {
  type Clock,
  ConfigError,
  type ConfigOf,
  type ConfigSchema,
  createLifecycle,
  type Lifecycle,
  type Part,
  processSettings,
  readConfig,
  systemClock,
} from '@bindery/service-kit';
import { createTelemetry, type Logger, type Telemetry } from '@bindery/telemetry';

/** What a process is composed of. */
export interface Starting<S extends ConfigSchema> {
  readonly settings: ConfigOf<S>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** Closes a store at the end, after everything that was composed; in reverse order of the calls. */
  keep<T extends { close(): Promise<void> }>(name: string, store: T): T;
  /** Ends the process: something happened that only a new process can mend. */
  fail(what: string, error: unknown): void;
}

export interface ProcessOptions<S extends ConfigSchema> {
  /** In log lines and traces. */
  readonly name: string;
  readonly version: string;
  readonly settings: S;
  /**
   * Opens what is needed. @returns what is started in order and stopped in reverse; the last one is what the outside
   * reaches, so that it is the first to end
   */
  readonly compose: (starting: Starting<S>) => Promise<readonly Part[]>;
}

/** Longest orderly end, in ms; below the grace period of supervisors (30 s in Kubernetes). */
const stopWithinMs = 25_000;
const sameSignalMs = 500;

const messageOf = (error: unknown): string =>
  error instanceof ConfigError ? error.message : String(Object(error).stack ?? error);

/**
 * Runs a process of the distributed profile until a signal ends it (PITFALLS 45, 47): what is not handled ends it at once,
 * for its supervisor to start a new one.
 */
export const runProcess = async <S extends ConfigSchema>(options: ProcessOptions<S>): Promise<void> => {
  let logger: Logger | undefined;
  let lifecycle: Lifecycle | undefined;
  let ending = false;
  let endingAt = 0;

  const tell = (what: string, error: unknown): void => {
    if (logger === undefined) process.stderr.write(`${options.name}: ${what}: ${messageOf(error)}\n`);
    else logger.error(what, { error });
  };
  const end = async (reason: string, exitCode: number): Promise<void> => {
    // A second signal: whoever sends it does not want to wait. Right after the first it is the same one: a terminal sends it
    // to all processes in front, and npm passes its own on.
    if (ending && performance.now() - endingAt < sameSignalMs) return;
    if (ending) process.exit(1);
    ending = true;
    endingAt = performance.now();
    logger?.info('ending', { reason });
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    const late = (await lifecycle?.stop()) ?? [];
    process.exit(late.length > 0 ? 1 : exitCode);
  };
  const die = (what: string) => (error: unknown) => {
    tell(what, error);
    process.exit(1);
  };
  process.on('SIGTERM', () => void end('SIGTERM', 0));
  process.on('SIGINT', () => void end('SIGINT', 0));
  process.on('unhandledRejection', die('unhandled rejection'));
  process.on('uncaughtException', die('uncaught exception'));

  const opened: Part[] = [];
  const stoppedLate = (part: string, error: unknown): void => tell(`${part} did not stop`, error);
  try {
    const observing = readConfig(processSettings, process.env);
    const settings = readConfig(options.settings, process.env);
    const telemetry = await createTelemetry({
      ...{ service: options.name, version: options.version, processMetrics: true },
      logLevel: observing.LOG_LEVEL,
      otlpEndpoint: observing.OTEL_EXPORTER_OTLP_ENDPOINT,
      sampleRatio: Number(observing.OTEL_TRACES_SAMPLER_ARG),
    });
    logger = telemetry.logger;
    opened.push({ name: 'telemetry', stop: () => telemetry.shutdown() });
    const parts = await options.compose({
      ...{ settings, telemetry, clock: systemClock },
      keep(name, store) {
        opened.push({ name, stop: () => store.close() });
        return store;
      },
      fail: (what, error) => {
        tell(what, error);
        void end(what, 1);
      },
    });
    lifecycle = createLifecycle([...opened, ...parts], stoppedLate);
    if (ending) return;
    await lifecycle.start();
    logger.info('ready', { startedMs: Math.round(performance.now()) });
  } catch (error) {
    // What was being started was stopped in the middle of it.
    if (ending) return;
    tell('cannot start', error);
    const cleanup = createLifecycle(lifecycle === undefined ? opened : [], stoppedLate);
    await cleanup.start();
    await cleanup.stop();
    process.exit(1);
  }
};
