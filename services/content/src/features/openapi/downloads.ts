import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { rawRoutes } from '@bindery/contracts';
import type { RawRoute } from '../files/index.ts';
import type { OpenAPIDeps } from './deps.ts';
import type { ReadDocument } from './events.ts';
import { openapiPrefix, type SpecLinks } from './links.ts';
import type { SpecDocument, SpecsCollection, VersionsCollection } from './read-model.ts';

const longestTarget = 1024;
const target = new RegExp(
  `^${openapiPrefix}/([A-Za-z0-9_-]{1,64})/([A-Za-z0-9_-]{1,64})/[^/?#]+(?:\\?token=([A-Za-z0-9_-]{1,64}))?$`,
);

/**
 * Serves documents as they came. A signed address is the authority for its version; without a signature the specification
 * must be public. Nothing served here runs.
 */
export const createSpecDownloads = (
  deps: Pick<OpenAPIDeps, 'blobs' | 'logger'> & {
    readonly specs: SpecsCollection;
    readonly versions: VersionsCollection;
    readonly links: SpecLinks;
  },
): RawRoute => {
  const { specs, versions, links, blobs, logger } = deps;

  const versionOf = async (spec: SpecDocument, versionId: string): Promise<ReadDocument | undefined> => {
    if (versionId === 'latest') return spec.lastVersion;
    const found = (await versions.get(versionId))?.document;
    return found?.specId === spec.id ? found : undefined;
  };
  const find = async (url: string): Promise<{ spec: SpecDocument; version: ReadDocument } | undefined> => {
    const [, specId, versionId, token] = url.length > longestTarget ? [] : (target.exec(url) ?? []);
    if (specId === undefined || versionId === undefined) return undefined;
    const signed = token !== undefined && links.isSigned(specId, versionId, token);
    if (token !== undefined && !signed) return undefined;
    const [stored] = await specs.query({ where: { id: specId }, limit: 1 });
    const spec = stored?.document;
    if (spec === undefined || (!signed && spec.visibility !== 'public')) return undefined;
    const version = await versionOf(spec, versionId);
    return version && { spec, version };
  };

  return {
    method: 'GET',
    path: rawRoutes.downloadOpenAPISpec.path,
    async handle(request, response) {
      const found = await find(request.url ?? '');
      const blob = found && (await blobs.get(found.version.raw.sha256));
      if (found === undefined || blob === undefined) {
        response.writeHead(404, { 'content-type': 'application/json', 'cache-control': 'no-store' });
        response.end(JSON.stringify({ error: { code: 404, message: 'No such specification.' } }));
        return;
      }
      const { spec, version } = found;
      const headers = {
        'content-type': version.format === 'json' ? 'application/json' : 'application/yaml; charset=utf-8',
        'content-disposition': `inline; filename="${spec.slug}.${version.format}"`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        // The address is all that is needed to read it, wherever one is.
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
        etag: `"${version.raw.sha256}"`,
      };
      if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(headers.etag)) {
        response.writeHead(304, headers).end();
        return;
      }
      response.writeHead(200, { ...headers, 'content-length': blob.size });
      if (request.method === 'HEAD') {
        response.end();
        return;
      }
      try {
        await pipeline(Readable.from(blob.body), response);
      } catch (error) {
        // The client went away, or the store broke off after the head was sent: the connection is gone either way.
        logger.debug('a download of a specification broke off', { specId: spec.id, error: String(error) });
      }
    },
  };
};
