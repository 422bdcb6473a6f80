import type { RequestListener } from 'node:http';
import { invalid, notFound, Problem } from '@bindery/service-kit';
import type { RepeatedWarnings, Telemetry } from '@bindery/telemetry';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { corsHeaders, exposedHeaders } from './http/cors.ts';
import { sendFailure } from './http/errors.ts';
import { requestIdOf } from './http/request-id.ts';
import { healthRoutes, type Readiness } from './site/health.ts';
import { type Documents, referenceRoutes } from './site/reference.ts';

export interface AppOptions {
  readonly telemetry: Telemetry;
  readonly repeats: RepeatedWarnings;
  readonly readiness: Readiness;
  readonly documents: () => Documents;
  readonly operations: RequestListener;
}

/** Mount points of operations; the listener answers everything below them. */
const operationPaths = ['/v1', '/admin/v1'];

/** The Express application: health, reference, and the same operations for those who mount it elsewhere. */
export function createApp({ telemetry, repeats, readiness, documents, operations }: AppOptions): Express {
  const { logger } = telemetry;
  const app = express();
  app.disable('x-powered-by');
  app.set('query parser', 'simple');

  const common: RequestHandler = (request, response, next) => {
    const path = request.path;
    if (operationPaths.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) {
      operations(request, response);
      return;
    }
    response.set({
      ...corsHeaders,
      ...exposedHeaders,
      'x-content-type-options': 'nosniff',
      'x-request-id': requestIdOf(request.headers['x-request-id']),
    });
    next();
  };
  const unknown: RequestHandler = () => {
    throw notFound('path');
  };
  const failed: ErrorRequestHandler = (error, request, response, _next) => {
    const requestId = String(response.get('x-request-id') ?? requestIdOf(undefined));
    sendFailure(request, response, fromExpress(error), { requestId, logger, repeats });
  };

  app.use(common);
  app.use(healthRoutes(readiness, telemetry));
  app.use(referenceRoutes(documents));
  app.use(unknown);
  app.use(failed);
  return app;
}

/** Express reports bad requests as errors with a status. */
function fromExpress(error: unknown): unknown {
  const { status }: { readonly status?: unknown } = Object(error);
  if (error instanceof Problem || typeof status !== 'number' || status >= 500) return error;
  return status === 404 ? notFound('path') : invalid('request.invalid', 'The request is not valid.');
}
