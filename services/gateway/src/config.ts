import { type AdmissionLimits, admissionLimits, admissionSettings, required } from '@bindery/service-kit';
import type { ConnectionLimits } from './http/connections.ts';

/** Settings of the gateway, read from the environment by the composition root. */
export const gatewaySettings = {
  HOST: required.text({ description: 'Address to listen on.', fallback: '127.0.0.1' }),
  PORT: required.integer({
    description: 'Port to listen on; 0 takes a free one.',
    fallback: 3000,
    min: 0,
    max: 65_535,
  }),
  RATE_LIMIT_PER_MINUTE: required.integer({
    description: 'Requests per minute that a token may make on average; 0 switches the limit off.',
    fallback: 6000,
    min: 0,
    max: 10_000_000,
  }),
  RATE_LIMIT_BURST: required.integer({
    description: 'Requests that a token may make at once.',
    fallback: 1000,
    min: 1,
    max: 1_000_000,
  }),
  FAILED_AUTHENTICATION_PER_MINUTE: required.integer({
    description: 'Failed authentications per minute that one address may make; 0 switches the limit off.',
    fallback: 120,
    min: 0,
    max: 1_000_000,
  }),
  TRUSTED_PROXY_HOPS: required.integer({
    description: 'How many proxies in front append to `X-Forwarded-For`; 0 takes the address of the connection.',
    fallback: 0,
    min: 0,
    max: 10,
  }),
  REQUEST_DEADLINE_MS: required.integer({
    description: 'Time for handling a request, in ms; then the caller gets a 503.',
    fallback: 30_000,
    min: 10,
    max: 600_000,
  }),
  MAX_CONNECTIONS: required.integer({
    description:
      'Connections that are kept open; beyond those the one that is idle for longest is closed for a new one, of the address that has most.',
    fallback: 8192,
    min: 1,
    max: 1_000_000,
  }),
  MAX_CONNECTIONS_PER_ADDRESS: required.integer({
    description:
      'Of those, connections of one address (of IPv6 its /64). Counts only without proxies in front: with `TRUSTED_PROXY_HOPS` all connections are theirs.',
    fallback: 1024,
    min: 1,
    max: 1_000_000,
  }),
  HEADERS_TIMEOUT_MS: required.integer({
    description: 'Time for receiving the headers of a request, in ms.',
    fallback: 10_000,
    min: 50,
    max: 120_000,
  }),
  REQUEST_TIMEOUT_MS: required.integer({
    description: 'Time for receiving a whole request, in ms.',
    fallback: 60_000,
    min: 50,
    max: 600_000,
  }),
  KEEP_ALIVE_TIMEOUT_MS: required.integer({
    description: 'Time that an idle connection stays open, in ms; longer than that of the proxy in front.',
    fallback: 65_000,
    min: 100,
    max: 600_000,
  }),
  DUPLICATE_WAIT_MS: required.integer({
    description: 'How long a repeated request waits for the first one with the same `Idempotency-Key`, in ms.',
    fallback: 10_000,
    min: 0,
    max: 60_000,
  }),
  DENIAL_REPORT_MS: required.integer({
    description: 'How often refused attempts are added up and written to the audit, in ms.',
    fallback: 60_000,
    min: 10,
    max: 600_000,
  }),
  ...admissionSettings,
  SHUTDOWN_TIMEOUT_MS: required.integer({
    description: 'Time for finishing requests at the end, in ms.',
    fallback: 10_000,
    min: 0,
    max: 600_000,
  }),
};

/** What the gateway needs to know. All times in ms. */
export interface GatewayConfig {
  readonly host: string;
  readonly port: number;
  /** Public address without a trailing slash; default: where it listens. */
  readonly publicUrl?: string;
  readonly version: string;
  /** What the release was built from. */
  readonly build: string;
  readonly profile: 'embedded' | 'distributed';
  readonly rateLimit: { readonly perMinute: number; readonly burst: number };
  readonly failedAuthenticationPerMinute: number;
  readonly trustedProxyHops: number;
  readonly requestDeadlineMs: number;
  /** Connections that are kept open. Default: those of the settings. */
  readonly connections?: ConnectionLimits;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly duplicateWaitMs: number;
  readonly denialReportMs: number;
  readonly shutdownTimeoutMs: number;
  /** How much is taken on at once. Default: that of the settings. */
  readonly admission?: AdmissionLimits;
  /** How long a transfer may stand still because its caller takes nothing, in ms. Default: a minute. */
  readonly stalledMs?: number;
  /** How often warnings that repeat themselves are summed up in the log, in ms. Default: that of the telemetry. */
  readonly repeatedWarningsMs?: number;
}

type Settings = {
  readonly [K in keyof typeof gatewaySettings]: (typeof gatewaySettings)[K] extends { read(text: string): infer T }
    ? T
    : never;
};

/** The configuration that settings and facts of the build make together. */
export const gatewayConfig = (
  settings: Settings,
  facts: Pick<GatewayConfig, 'version' | 'build' | 'profile'> & { readonly publicUrl?: string | undefined },
): GatewayConfig => ({
  host: settings.HOST,
  port: settings.PORT,
  ...(facts.publicUrl !== undefined && { publicUrl: facts.publicUrl }),
  version: facts.version,
  build: facts.build,
  profile: facts.profile,
  rateLimit: { perMinute: settings.RATE_LIMIT_PER_MINUTE, burst: settings.RATE_LIMIT_BURST },
  failedAuthenticationPerMinute: settings.FAILED_AUTHENTICATION_PER_MINUTE,
  trustedProxyHops: settings.TRUSTED_PROXY_HOPS,
  requestDeadlineMs: settings.REQUEST_DEADLINE_MS,
  connections: {
    all: settings.MAX_CONNECTIONS,
    ...(settings.TRUSTED_PROXY_HOPS === 0 && { perAddress: settings.MAX_CONNECTIONS_PER_ADDRESS }),
  },
  headersTimeoutMs: settings.HEADERS_TIMEOUT_MS,
  requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
  keepAliveTimeoutMs: settings.KEEP_ALIVE_TIMEOUT_MS,
  duplicateWaitMs: settings.DUPLICATE_WAIT_MS,
  denialReportMs: settings.DENIAL_REPORT_MS,
  shutdownTimeoutMs: settings.SHUTDOWN_TIMEOUT_MS,
  admission: admissionLimits(settings),
});
