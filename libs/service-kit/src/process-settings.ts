import { optional, required } from './config.ts';

/** Settings of every process, whatever runs in it. */
export const processSettings = {
  LOG_LEVEL: required.oneOf(['debug', 'info', 'warn', 'error'], {
    description: 'Least severe log lines that are written.',
    fallback: 'info',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional.url({
    description: 'Collector for traces and metrics (OTLP over HTTP); nothing is traced without it.',
  }),
  OTEL_TRACES_SAMPLER_ARG: required.text({
    description: 'Share of the traces begun here that are recorded; those begun by a caller are as the caller decided.',
    fallback: '1',
    pattern: /^(?:0(?:\.\d{1,6})?|1(?:\.0{1,6})?)$/,
    allowed: 'a number from 0 to 1',
  }),
};
