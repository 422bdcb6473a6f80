import type { Metrics } from '@bindery/telemetry';

/** Rate, errors and duration per operation (DESIGN section 9). */
export interface RequestMetrics {
  record(operation: string, status: number, durationMs: number): void;
}

export function createRequestMetrics(metrics: Metrics): RequestMetrics {
  const requests = metrics.counter('bindery_requests_total', 'Requests answered.', ['operation', 'status']);
  const duration = metrics.histogram('bindery_request_duration_seconds', 'Time from request to answer.', ['operation']);
  return {
    record(operation, status, durationMs) {
      requests.add(1, { operation, status: String(status) });
      duration.record(durationMs / 1000, { operation });
    },
  };
}
