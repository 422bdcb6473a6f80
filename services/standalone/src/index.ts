export type { Embedded, Replacements } from './compose.ts';
export { readSettings, type Settings, settings } from './config.ts';
export { createEmbedded } from './embedded.ts';
