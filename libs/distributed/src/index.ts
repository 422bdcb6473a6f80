export {
  keysDatabase,
  openBlobs,
  openCache,
  openDatabase,
  openPorts,
  readInstanceKey,
  tuningOf,
} from './open-stores.ts';
export { type ProcessOptions, runProcess, type Starting } from './run-process.ts';
export { type ServeOptions, serve } from './serve.ts';
export {
  blobSettings,
  contentUrl,
  gatewayProcessSettings,
  identityUrl,
  serviceProcessSettings,
} from './settings.ts';
