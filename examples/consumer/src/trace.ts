import { randomBytes } from 'node:crypto';

/** The trace that a message belongs to, continued by a span of this process. */
export interface Continued {
  readonly traceId: string;
  readonly spanId: string;
  /** For calls that handling the message makes. */
  readonly traceparent: string;
}

/**
 * Continues the trace of a message. With the OpenTelemetry SDK use its propagator and start a span of kind CONSUMER with the
 * extracted context as parent and link instead; this is the same without the SDK, for log lines and outgoing calls.
 */
export const continueTrace = (traceparent: string | undefined): Continued => {
  const [, given, flags] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  const traceId = given ?? randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags ?? '00'}` };
};
