import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { grpcAnswers } from '../probes.ts';
import { MissingTool } from '../tools.ts';

const MAIN = fileURLToPath(new URL('../../../../libs/testing/src/eventstoredb-double/main.ts', import.meta.url));

/** EventStoreDB's gRPC protocol, served by the project's own double: no package registry has the server. */
export const eventstore: Engine = {
  name: 'eventstore',
  title: 'EventStoreDB (protocol double of libs/testing)',
  portCount: 1,
  readyDeadlineMs: 20_000,
  stopGraceMs: 10_000,
  prepare: ({ dataFolder, ports }) => {
    if (!existsSync(MAIN))
      return Promise.reject(
        new MissingTool('libs/testing has no eventstoredb-double yet. Set EVENTSTORE_URL to a server of your own.'),
      );
    const flags = ['--disable-warning=ExperimentalWarning'];
    return Promise.resolve({
      command: process.execPath,
      args: [...flags, MAIN, '--port', String(ports[0]), '--data', dataFolder],
    });
  },
  probe: ({ ports }) => grpcAnswers(ports[0] ?? 0),
  environment: ({ ports }) => ({ EVENTSTORE_URL: `esdb://${HOST}:${ports[0]}?tls=false` }),
};
