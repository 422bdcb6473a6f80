import type { ServiceName } from './kit/operation.ts';

/** A route outside the JSON contract: files in and out, and what browsers are sent to. */
export interface RawRouteDefinition {
  readonly owner: ServiceName;
  /** HEAD comes with GET. */
  readonly method: 'GET' | 'PUT' | 'POST';
  /** Below the public address of the instance, with `{name}` parameters. */
  readonly path: string;
  /** A GET that may not be asked twice: the second answer would be another one. */
  readonly once?: true;
}

/**
 * Routes that services answer by themselves, byte by byte; the gateway mounts them in one process and passes them on to
 * their owner where it is another one. Their addresses are signed or belong to a protocol, so that they need no token.
 */
export const rawRoutes = {
  downloadFile: { owner: 'content', method: 'GET', path: '/~files/{spaceId}/{fileId}/{name}' },
  uploadFile: { owner: 'content', method: 'PUT', path: '/~storage/{key}' },
  downloadPdf: { owner: 'content', method: 'GET', path: '/~pdf/{ticket}' },
  downloadOpenAPISpec: { owner: 'content', method: 'GET', path: '/~openapi/{specId}/{versionId}/{name}' },
  downloadAuditExport: { owner: 'identity', method: 'GET', path: '/~audit/{ticket}' },
  samlMetadata: { owner: 'identity', method: 'GET', path: '/saml/{providerId}/metadata' },
  startSamlLogin: { owner: 'identity', method: 'GET', path: '/saml/{providerId}/start' },
  consumeSamlResponse: { owner: 'identity', method: 'POST', path: '/saml/{providerId}/acs' },
  finishSamlLogin: { owner: 'identity', method: 'GET', path: '/saml/{providerId}/finish', once: true },
} as const satisfies Readonly<Record<string, RawRouteDefinition>>;

/** The part of a raw route's path before its parameters, without a trailing slash: what its addresses begin with. */
export const rawPrefix = (route: RawRouteDefinition): string => route.path.slice(0, route.path.indexOf('/{'));
