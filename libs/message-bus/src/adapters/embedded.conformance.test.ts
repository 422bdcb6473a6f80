import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMessageBusConformance } from '@bindery/testing';
import { openEmbeddedMessageBus } from './embedded.ts';

describeMessageBusConformance('embedded', {
  createPlace: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bindery-message-bus-'));
    return {
      open: async () => openEmbeddedMessageBus({ path: join(folder, 'bus.db'), pollMs: 5, leaseMs: 2000 }),
      dispose: () => rm(folder, { recursive: true }),
    };
  },
});
