export * from './create.ts';
export { FOLLOW_UP_MS, followUp } from './follow-up.ts';
export { gaugeDisk, gaugeReady } from './gauges.ts';
export type { LogLevel, LogSink } from './logger.ts';
export { noopTelemetry, noopTracer } from './noop.ts';
export * from './port.ts';
export { REDACTED, redact } from './redact.ts';
export { createRepeatedWarnings, type RepeatedWarnings } from './repeated-warnings.ts';
