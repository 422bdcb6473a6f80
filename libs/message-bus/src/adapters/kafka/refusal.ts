import { MessageBusUnavailable } from '../../port.ts';

/**
 * Why brokers are reached but not to be spoken to; trying again is of no use before somebody changes a setting:
 * - `credentials`: the user or its password is not known there; `mechanism`: this way of signing in is not offered.
 * - `certificate`: theirs is not to be trusted; `client-certificate`: they do not trust ours, or want one.
 * - `no-tls`: they do not speak TLS at this port.
 * - `replication`: they are fewer than the copies that topics are to have.
 * - `authorization`: the user may not do this.
 */
export type RefusalReason =
  | 'credentials'
  | 'mechanism'
  | 'certificate'
  | 'client-certificate'
  | 'no-tls'
  | 'replication'
  | 'authorization';

/** The brokers are there and refuse. Still "not now" for those who publish and consume: an operator mends it. */
export class KafkaRefusal extends MessageBusUnavailable {
  readonly reason: RefusalReason;
  constructor(message: string, reason: RefusalReason, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

interface Described {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly originalError?: unknown;
  readonly errors?: unknown;
}

/** Codes with which Node's TLS refuses what a server shows. */
const CERTIFICATE =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_|CERT_|INVALID_CA|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_INVALID)/;
/** Alerts with which a server refuses what it was shown, or misses it. */
const CLIENT_CERTIFICATE =
  /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|HANDSHAKE_FAILURE)/;
/** The answer was none of TLS. */
const NO_TLS = /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/;

const MOST_CAUSES = 4;

const ownReason = ({ name, type, code, message }: Described): RefusalReason | undefined => {
  if (name === 'KafkaJSSASLAuthenticationError')
    return String(message).includes('mechanism is not supported') ? 'mechanism' : 'credentials';
  if (type === 'SASL_AUTHENTICATION_FAILED') return 'credentials';
  if (type === 'UNSUPPORTED_SASL_MECHANISM' || type === 'ILLEGAL_SASL_STATE') return 'mechanism';
  if (type === 'INVALID_REPLICATION_FACTOR') return 'replication';
  if (typeof type === 'string' && type.endsWith('_AUTHORIZATION_FAILED')) return 'authorization';
  if (typeof code !== 'string') return undefined;
  if (CERTIFICATE.test(code)) return 'certificate';
  if (CLIENT_CERTIFICATE.test(code)) return 'client-certificate';
  return NO_TLS.test(code) ? 'no-tls' : undefined;
};

const causesOf = ({ cause, originalError, errors }: Described): readonly unknown[] => [
  cause,
  originalError,
  ...(Array.isArray(errors) ? errors : []),
];

/** Whether a failure of the client library, or what caused it, is a refusal. */
export const refusalOf = (error: unknown, depth = 0): RefusalReason | undefined => {
  if (typeof error !== 'object' || error === null || depth > MOST_CAUSES) return undefined;
  for (const inner of causesOf(error)) {
    const reason = refusalOf(inner, depth + 1);
    if (reason !== undefined) return reason;
  }
  return ownReason(error);
};

/**
 * Whether a broker took the connection and closed it before it had said anything: it wants TLS or does not speak it, or it
 * wants a user; or it is just ending.
 */
export const isClosedAtOnce = (error: unknown, depth = 0): boolean => {
  if (typeof error !== 'object' || error === null || depth > MOST_CAUSES) return false;
  const { name, message }: Described = error;
  const closed = name === 'KafkaJSConnectionClosedError' || /before secure TLS connection/.test(String(message));
  return closed || causesOf(error).some((inner) => isClosedAtOnce(inner, depth + 1));
};
