import { type AdmissionLimits, defaultAdmissionLimits } from './admission.ts';
import { type ConfigOf, optional, required } from './config.ts';

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

/** Settings of every process that is sent requests: how much it takes on at once (PITFALLS 48). */
export const admissionSettings = {
  MAX_REQUESTS_IN_FLIGHT: required.integer({
    description:
      'Requests that are worked on at once, and as many uploads, downloads and pages beside them. Health, metrics and administration are not counted.',
    fallback: defaultAdmissionLimits.inFlight,
    min: 1,
    max: 100_000,
  }),
  MAX_REQUESTS_WAITING: required.integer({
    description:
      'Requests that wait for their turn beyond those; more are refused with 503 and `Retry-After`. No caller takes more of these places than it leaves free.',
    fallback: defaultAdmissionLimits.waiting,
    min: 0,
    max: 100_000,
  }),
  MAX_REQUESTS_PER_CALLER: required.integer({
    description:
      'Of those that are worked on, requests of one caller: a user, or an address (of IPv6 its /64) while nobody is signed in. Nobody has more than is still free for others, either. What comes beyond waits, in turn with other callers, or is refused with 429 and `Retry-After`.',
    fallback: defaultAdmissionLimits.perCaller,
    min: 1,
    max: 100_000,
  }),
  REQUEST_WAIT_MS: required.integer({
    description:
      'Longest that a request waits for its turn, in ms; then it is refused in the same way. Ten times that for one that waits for other requests of its caller.',
    fallback: defaultAdmissionLimits.waitMs,
    min: 10,
    max: 60_000,
  }),
};

/** The limits that the settings make. */
export const admissionLimits = (settings: ConfigOf<typeof admissionSettings>): AdmissionLimits => ({
  inFlight: settings.MAX_REQUESTS_IN_FLIGHT,
  waiting: settings.MAX_REQUESTS_WAITING,
  waitMs: settings.REQUEST_WAIT_MS,
  perCaller: settings.MAX_REQUESTS_PER_CALLER,
});
