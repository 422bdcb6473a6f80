import { join } from 'node:path';

/** Where the parts of the embedded profile keep what they keep. */
export const dataPaths = (dataDir: string) => ({
  events: (service: string) => join(dataDir, service, 'events.db'),
  readModels: (service: string) => join(dataDir, service, 'read.db'),
  keys: join(dataDir, 'identity', 'keys.db'),
  gatewayState: join(dataDir, 'gateway', 'state.db'),
  bus: join(dataDir, 'bus.db'),
  blobs: join(dataDir, 'blobs'),
  search: join(dataDir, 'content', 'search.db'),
  outbox: join(dataDir, 'outbox'),
  adminToken: join(dataDir, 'admin-token'),
});
