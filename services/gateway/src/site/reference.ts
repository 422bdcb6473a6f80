import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { type RequestHandler, Router } from 'express';

/** A document as it is sent, made once: it is large, and anybody may ask for it. */
export interface ReferenceDocument {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** The documents that describe the instance. */
export interface Documents {
  readonly openapi: ReferenceDocument;
  readonly asyncapi: ReferenceDocument;
}

/** A document of its content. */
export const referenceDocument = (content: unknown): ReferenceDocument => {
  const bytes = Buffer.from(JSON.stringify(content));
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
};

const start = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  persistAuthorization: false,
  validatorUrl: null,
  syntaxHighlight: false,
  presets: [SwaggerUIBundle.presets.apis],
});`;

const startHash = createHash('sha256').update(start).digest('base64');

/** Everything comes from this server; the one inline script is named by its hash. The renderer sets inline styles. */
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${startHash}'`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bindery API reference</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<noscript>The reference needs JavaScript; <a href="/openapi.json">openapi.json</a> has the same content.</noscript>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script>${start}</script>
</body>
</html>
`;

const landing = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bindery</title>
</head>
<body>
<h1>Bindery</h1>
<p>A self-hosted documentation platform. Its API is under <code>/v1</code>.</p>
<ul>
<li><a href="/account">Your account</a>: sign in, tokens, password</li>
<li><a href="/docs">API reference</a></li>
<li><a href="/openapi.json">openapi.json</a>: the API, OpenAPI 3.1</li>
<li><a href="/asyncapi.json">asyncapi.json</a>: the public events, AsyncAPI 3.0</li>
<li><a href="/readyz">readyz</a>, <a href="/healthz">healthz</a>, <a href="/metrics">metrics</a></li>
</ul>
</body>
</html>
`;

const assets = ['swagger-ui.css', 'swagger-ui-bundle.js'] as const;
const assetMaxAge = 'public, max-age=3600';

/** `/`, `/docs` (rendered in the browser, offline), `/openapi.json` and `/asyncapi.json`. No token is needed. */
export function referenceRoutes(documents: () => Documents): Router {
  const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const json =
    (name: keyof Documents): RequestHandler =>
    (_request, response) => {
      const { bytes, etag } = documents()[name];
      response.type('application/json').set('etag', etag).send(bytes);
    };
  const html =
    (text: string, csp: string): RequestHandler =>
    (_request, response) => {
      response.set('content-security-policy', csp).set('referrer-policy', 'no-referrer').type('html').send(text);
    };
  const router = Router();
  router.get(
    '/',
    html(landing, "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"),
  );
  router.get('/docs', html(page, policy));
  router.get('/openapi.json', json('openapi'));
  router.get('/asyncapi.json', json('asyncapi'));
  for (const name of assets) {
    router.get(`/docs/assets/${name}`, (_request, response, next) => {
      response.set('cache-control', assetMaxAge);
      response.sendFile(name, { root, dotfiles: 'deny', cacheControl: false }, (error) => {
        if (error && !response.headersSent) next(error);
      });
    });
  }
  return router;
}
