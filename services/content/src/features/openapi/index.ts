import type { openapiSpecOperations } from '@bindery/contracts';
import type { HandlersFor } from '@bindery/service-kit';
import type { RawRoute } from '../files/index.ts';
import { specKey } from './aggregate.ts';
import type { OpenAPIDeps } from './deps.ts';
import { createSpecDownloads } from './downloads.ts';
import type { SpecVisibility } from './events.ts';
import { createSpecLinks } from './links.ts';
import { createSpecProcessor } from './processor.ts';
import { readDocument } from './read-document.ts';
import { openSpecs, openVersions } from './read-model.ts';
import type { SpecRouteDeps } from './routes/answer.ts';
import { createSpec, deleteSpec, putSpec, updateSpec } from './routes/change.ts';
import { getContent, getSpec, getVersion, listSpecs, listVersions } from './routes/read.ts';

export { openapiSpecAggregate } from './aggregate.ts';
export type { OpenAPITuning } from './deps.ts';
export type { OpenAPISpecEvent } from './events.ts';
export { openapiSpecPublicEvents } from './public-events.ts';
export { openapiProjections } from './read-model.ts';

/** A specification as computed content depends on it. */
export interface LatestSpec {
  readonly id: string;
  readonly slug: string;
  readonly visibility: SpecVisibility;
  /** Absent until a document was read for the first time. */
  readonly lastVersion?: {
    readonly id: string;
    /** The document, read anew each time. */
    document(): Promise<object>;
  };
}

/** OpenAPI specifications, with the work behind them. */
export interface OpenAPIFeature {
  readonly handlers: HandlersFor<typeof openapiSpecOperations>;
  readonly rawRoute: RawRoute;
  /** The specification of a slug and its latest version, whoever asks; undefined when there is none. */
  latest(organizationId: string, slug: string): Promise<LatestSpec | undefined>;
  start(): void;
  stop(): Promise<void>;
}

export const createOpenAPIFeature = (deps: OpenAPIDeps): OpenAPIFeature => {
  const { access, repository, blobs, cursors, logger } = deps;
  const specs = openSpecs(deps.live);
  const versions = openVersions(deps.live);
  const links = createSpecLinks(deps.secret);
  const processor = createSpecProcessor({ ...deps, specs });
  const routes: SpecRouteDeps = { access, repository, blobs, cursors, specs, versions, links, wake: processor.wake };

  return {
    handlers: {
      listOpenAPISpecs: listSpecs(routes),
      createOpenAPISpec: createSpec(routes),
      getOpenAPISpecBySlug: getSpec(routes),
      createOrUpdateOpenAPISpecBySlug: putSpec(routes),
      updateOpenAPISpecBySlug: updateSpec(routes),
      deleteOpenAPISpecBySlug: deleteSpec(routes),
      listOpenAPISpecVersions: listVersions(routes),
      getLatestOpenAPISpecVersion: getVersion(routes),
      getLatestOpenAPISpecVersionContent: getContent(routes),
      getOpenAPISpecVersionById: getVersion(routes),
      getOpenAPISpecVersionContentById: getContent(routes),
    },
    rawRoute: createSpecDownloads({ specs, versions, links, blobs, logger }),
    async latest(organizationId, slug) {
      const spec = (await specs.get(specKey(organizationId, slug)))?.document;
      if (spec === undefined) return undefined;
      const { id, visibility, lastVersion } = spec;
      const known = { id, slug: spec.slug, visibility };
      if (lastVersion === undefined) return known;
      const { versionId, json } = lastVersion;
      return { ...known, lastVersion: { id: versionId, document: () => readDocument(blobs, json) } };
    },
    start: () => processor.start(),
    stop: () => processor.stop(),
  };
};
