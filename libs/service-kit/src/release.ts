import { readFileSync } from 'node:fs';

const manifest: { readonly version?: unknown } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** Version of the product. */
export const version = String(manifest.version);
/** What the release was made from; a checkout runs its own source. */
export const build = 'source';
