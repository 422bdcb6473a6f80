import { Problem, type Service } from '@bindery/service-kit';
import { gaugeReady, type Telemetry } from '@bindery/telemetry';
import { type RequestHandler, Router } from 'express';

/** What of the instance decides whether it can serve. */
export interface Readiness {
  readonly services: readonly Pick<Service, 'name' | 'notReady'>[];
  /** True between `start` and `stop`. */
  readonly accepting: () => boolean;
}

/** `/healthz`: the event loop turns. `/readyz`: requests can be served (PITFALLS 46). `/metrics`: Prometheus text. */
export function healthRoutes(readiness: Readiness, telemetry: Telemetry): Router {
  const alive: RequestHandler = (_request, response) => {
    response.json({ status: 'ok' });
  };
  const missingNow = (): string[] => {
    const missing = readiness.services.flatMap(({ name, notReady }) => notReady().map((part) => `${name}: ${part}`));
    if (!readiness.accepting()) missing.unshift('gateway: not started, or stopping');
    return missing;
  };
  gaugeReady(telemetry.metrics, 'gateway', () => missingNow().length === 0);
  const ready: RequestHandler = (_request, response) => {
    const missing = missingNow();
    if (missing.length > 0) {
      throw new Problem('unavailable', 'instance.not_ready', `Not ready. ${missing.join('; ')}`, { retryAfter: 1 });
    }
    response.json({ status: 'ready' });
  };
  const metrics: RequestHandler = async (_request, response) => {
    const text = await telemetry.scrape();
    response.type('text/plain; version=0.0.4; charset=utf-8').send(text);
  };
  // Exactly these: what keeps `/metrics` from the outside in front of the gateway knows no other spelling.
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/healthz', alive);
  router.get('/readyz', ready);
  router.get('/metrics', metrics);
  return router;
}
