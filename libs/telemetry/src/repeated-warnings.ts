import type { Logger } from './port.ts';

/** Warnings of which there may be one for every request while something is wrong: under load the log would become the load. */
export interface RepeatedWarnings {
  /**
   * Writes a warning, or counts it when there was one of its kind within the interval.
   * @param kind tells kinds apart; a few dozen in the program, never something that a caller chooses
   */
  warn(kind: string, message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes what was counted. */
  stop(): void;
}

interface Counted {
  readonly message: string;
  /** Of the last one. */
  fields: Readonly<Record<string, unknown>>;
  repeated: number;
  readonly timer: NodeJS.Timeout;
}

const defaultEveryMs = 10_000;
/** Kinds that are told apart; more than those are counted together. */
const maxKinds = 200;
const otherKinds = 'others';

/**
 * The first of a kind is written at once. Those that follow within the interval are counted, and written as one line at its
 * end with the fields of the last one and `repeated`, how many they were; then the next interval begins.
 * @param everyMs the interval, in ms, default 10,000
 */
export const createRepeatedWarnings = (logger: Logger, everyMs: number = defaultEveryMs): RepeatedWarnings => {
  const kinds = new Map<string, Counted>();

  const write = ({ message, fields, repeated }: Counted): void => logger.warn(message, { ...fields, repeated });
  const sumUp = (kind: string): void => {
    const counted = kinds.get(kind);
    if (counted === undefined) return;
    if (counted.repeated === 0) {
      clearInterval(counted.timer);
      kinds.delete(kind);
      return;
    }
    write(counted);
    counted.repeated = 0;
  };

  return {
    warn(given, message, fields = {}) {
      const kind = kinds.size < maxKinds || kinds.has(given) ? given : otherKinds;
      const counted = kinds.get(kind);
      if (counted !== undefined) {
        counted.repeated += 1;
        counted.fields = fields;
        return;
      }
      const timer = setInterval(() => sumUp(kind), everyMs);
      timer.unref();
      kinds.set(kind, { message, fields, repeated: 0, timer });
      logger.warn(message, fields);
    },
    stop() {
      for (const counted of kinds.values()) {
        clearInterval(counted.timer);
        if (counted.repeated > 0) write(counted);
      }
      kinds.clear();
    },
  };
};
