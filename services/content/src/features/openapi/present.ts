import type { OpenAPISpec, OpenAPISpecContent, OpenAPISpecVersion } from '@bindery/contracts';
import type { SpecLinks } from './links.ts';
import type { SpecDocument, VersionDocument } from './read-model.ts';

/** What of a version its presentation needs. */
type VersionFacts = Pick<VersionDocument, 'versionId' | 'format'>;
type SpecFacts = Pick<SpecDocument, 'id' | 'organizationId' | 'slug'>;

const fileName = ({ slug }: SpecFacts, { format }: VersionFacts): string => `${slug}.${format}`;
const specLocation = (baseUrl: string, { organizationId, slug }: SpecFacts): string =>
  `${baseUrl}/v1/orgs/${organizationId}/openapi/${slug}`;

/** A specification as clients see it (resources section 22). @param edit whether the caller may change it */
export const presentSpec = (baseUrl: string, links: SpecLinks, spec: SpecDocument, edit: boolean): OpenAPISpec => {
  const { source, visibility, lastVersion, lastProcessedAt, error } = spec;
  const published = visibility === 'public' && lastVersion !== undefined;
  return {
    object: 'openapi-spec',
    id: spec.id,
    createdAt: spec.createdAt,
    updatedAt: spec.updatedAt,
    slug: spec.slug,
    ...(source.kind === 'url' ? { sourceURL: source.url } : {}),
    processingState: spec.processingState,
    visibility,
    ...(lastVersion === undefined ? {} : { lastVersion: lastVersion.versionId }),
    ...(lastProcessedAt === undefined ? {} : { lastProcessedAt }),
    ...(error === undefined ? {} : { lastProcessErrorCode: error.code }),
    lastProcessedErrors: (error?.errors ?? []).map((it) => ({ ...it })),
    lastProcessedErrorCount: error?.errors.length ?? 0,
    permissions: { view: true, edit },
    urls: {
      location: specLocation(baseUrl, spec),
      app: `${baseUrl}/app/orgs/${spec.organizationId}/openapi/${spec.slug}`,
      ...(published ? { published: links.latest(baseUrl, spec.id, fileName(spec, lastVersion)) } : {}),
    },
  };
};

/** A version as clients see it (resources section 22). */
export const presentVersion = (
  baseUrl: string,
  links: SpecLinks,
  spec: SpecFacts,
  version: VersionFacts & Pick<VersionDocument, 'createdAt'>,
): OpenAPISpecVersion => ({
  object: 'openapi-spec-version',
  id: version.versionId,
  createdAt: version.createdAt,
  url: links.version(baseUrl, spec.id, version.versionId, fileName(spec, version)),
  urls: { location: `${specLocation(baseUrl, spec)}/versions/${version.versionId}` },
});

/** The content of a version as clients see it. @param document the JSON object of the document */
export const presentContent = (
  baseUrl: string,
  links: SpecLinks,
  spec: SpecDocument,
  version: VersionDocument,
  document: object,
): OpenAPISpecContent => {
  const filename = fileName(spec, version);
  const url = links.version(baseUrl, spec.id, version.versionId, filename);
  const source = version.source.kind === 'url' ? version.source.url : undefined;
  // Stored documents are public at our own address, others at theirs (reference: version content).
  const open = source ?? links.latest(baseUrl, spec.id, filename).replace('/latest/', `/${version.versionId}/`);
  return {
    filesystem: {
      [filename]: { isEntrypoint: true, filename, dir: './', references: [], specification: document },
    },
    url,
    urls: { source: source ?? url, public: spec.visibility === 'public' ? open : null },
  };
};
