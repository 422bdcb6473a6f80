import { type Logger as PinoLogger, pino } from 'pino';
import type { Logger } from './port.ts';
import { redact } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Anything a line of text can be written to; `process.stdout` for one. */
export interface LogSink {
  write(line: string): unknown;
}

export interface LoggerOptions {
  readonly service: string;
  readonly version: string;
  readonly level: LogLevel;
  /** `json`: one object a line, for collectors. `text`: for people at a terminal. */
  readonly format: 'json' | 'text';
  readonly sink: LogSink;
  /** `traceparent` of the active span, if any. */
  readonly current: () => string | undefined;
}

const traceFields = (traceparent: string | undefined): Record<string, string> => {
  const [, traceId, spanId] = traceparent?.split('-') ?? [];
  return traceId === undefined || spanId === undefined ? {} : { traceId, spanId };
};

/** The fields that make up the head of a text line; the others follow it as JSON. */
const asText = (line: string): string => {
  const { time, level, message, service, version: _version, ...fields } = JSON.parse(line);
  const rest = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
  return `${time} ${String(level).toUpperCase().padEnd(5)} ${service}: ${message}${rest}\n`;
};

/** A logger of JSON lines (`time`, `level`, `service`, `version`, `message`, trace ids, fields), redacted by field name. */
export const createLogger = (options: LoggerOptions): Logger => {
  const { sink } = options;
  const base = pino(
    {
      level: options.level,
      messageKey: 'message',
      base: null, // among the fields of each logger, so that a child can say it differently
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      serializers: { err: (value: unknown) => value }, // `redact` has made an object of it
      mixin: () => traceFields(options.current()),
    },
    options.format === 'json' ? sink : { write: (line: string) => sink.write(asText(line)) },
  );
  return adapt(base, { service: options.service, version: options.version });
};

type Fields = Readonly<Record<string, unknown>>;
type Pino = PinoLogger<never, boolean>;

const safe = (fields: Fields | undefined): object => (fields === undefined ? {} : Object(redact(fields)));

/** @param own fields of every line; a name stands in a line once, with the innermost value */
const adapt = (root: Pino, own: object): Logger => {
  const base = root.child(own);
  const log = (level: 'debug' | 'info' | 'warn' | 'error', message: string, fields: Fields | undefined): void => {
    // A level that is off must not cost the copy that redaction makes.
    if (!base.isLevelEnabled(level)) return;
    const given = safe(fields);
    const says = Object.keys(given).some((name) => Object.hasOwn(own, name));
    if (says) root[level]({ ...own, ...given }, message);
    else base[level](given, message);
  };
  return {
    debug: (message, fields) => log('debug', message, fields),
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
    child: (fields) => adapt(root, { ...own, ...safe(fields) }),
  };
};
