import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { mongoAnswers } from '../probes.ts';
import { goProgram } from '../tools.ts';

const VERSION = '1.24.2';

/** FerretDB on SQLite: another implementation of MongoDB's commands. Its updates are not atomic, so it proves no guard. */
export const ferretdb: Engine = {
  name: 'mongodb',
  title: `FerretDB ${VERSION} on SQLite`,
  portCount: 1,
  readyDeadlineMs: 60_000,
  stopGraceMs: 10_000,
  prepare: async ({ dataFolder, ports, say }) => ({
    command: await goProgram(
      {
        folder: `ferretdb-${VERSION}`,
        module: 'github.com/FerretDB/FerretDB',
        version: VERSION,
        command: './cmd/ferretdb',
        // Made by its own release build; without it the program does not start.
        files: { 'build/version/version.txt': `v${VERSION}\n` },
      },
      say,
    ),
    args: [
      ...['--handler=sqlite', `--sqlite-url=file:${dataFolder}/`, `--state-dir=${dataFolder}`],
      ...[`--listen-addr=${HOST}:${ports[0]}`, '--debug-addr=-', '--telemetry=disable', '--log-level=warn'],
    ],
  }),
  probe: ({ ports }) => mongoAnswers(ports[0] ?? 0),
  environment: ({ ports }) => ({ MONGODB_URL: `mongodb://${HOST}:${ports[0]}/` }),
};
