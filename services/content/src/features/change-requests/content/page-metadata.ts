import type { PageMetadata } from '../../revisions/index.ts';

/** Metadata with some fields changed; null takes a field away, undefined leaves it. */
export const withFields = (
  metadata: PageMetadata,
  fields: { readonly [K in keyof PageMetadata]?: PageMetadata[K] | null | undefined },
): PageMetadata => {
  const next: Record<string, unknown> = { ...metadata };
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) delete next[name];
    else if (value !== undefined) next[name] = value;
  }
  return next as unknown as PageMetadata;
};
