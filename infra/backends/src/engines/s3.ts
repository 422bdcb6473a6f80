import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { httpAnswers } from '../probes.ts';
import { goProgram } from '../tools.ts';

const VERSION = '1.8.0';
const BUCKET = 'bindery';
const KEY_ID = 'bindery-backends';
/** Of a store that listens on the loopback address alone, with nothing in it but what tests put there. */
const SECRET = 'bindery-backends-secret';

/** Versity S3 Gateway on a folder: signed requests, conditional writes, multipart uploads; a bucket is a folder. */
export const s3: Engine = {
  name: 's3',
  title: `Versity S3 Gateway ${VERSION} (files)`,
  portCount: 1,
  readyDeadlineMs: 30_000,
  stopGraceMs: 10_000,
  prepare: async ({ dataFolder, ports, say }) => {
    const command = await goProgram(
      {
        folder: `versitygw-${VERSION}`,
        module: 'github.com/versity/versitygw',
        version: VERSION,
        command: './cmd/versitygw',
      },
      say,
    );
    await mkdir(join(dataFolder, BUCKET), { recursive: true });
    return {
      command,
      args: ['--port', `${HOST}:${ports[0]}`, '--keep-alive', '--quiet', 'posix', dataFolder],
      env: { ROOT_ACCESS_KEY: KEY_ID, ROOT_SECRET_KEY: SECRET },
    };
  },
  probe: ({ ports }) => httpAnswers(ports[0] ?? 0),
  environment: ({ ports }) => ({
    S3_ENDPOINT: `http://${HOST}:${ports[0]}`,
    S3_REGION: 'us-east-1',
    S3_ACCESS_KEY_ID: KEY_ID,
    S3_SECRET_ACCESS_KEY: SECRET,
    S3_BUCKET: BUCKET,
  }),
};
