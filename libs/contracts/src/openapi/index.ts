export { buildOpenApi, type OpenApiDocument, type OpenApiOptions } from './document.ts';
