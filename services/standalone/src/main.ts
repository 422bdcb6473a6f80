import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Stripped and compiled sources are kept beside the packages, which halves the time to readiness from the second start on.
// Where that is not writable it changes nothing.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/bindery', import.meta.url)));
const { run } = await import('./run.ts');
await run();
flushCompileCache();
