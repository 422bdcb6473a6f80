import type { Engine } from '../engine.ts';
import { HOST } from '../ports.ts';
import { redisAnswers } from '../probes.ts';
import { needProgram } from '../tools.ts';

/** Redis, with every write in its append-only file within a second (and at once in the kernel, which outlives SIGKILL). */
export const redis: Engine = {
  name: 'redis',
  title: 'Redis (Debian)',
  portCount: 1,
  readyDeadlineMs: 20_000,
  stopGraceMs: 10_000,
  prepare: async ({ dataFolder, ports, say }) => ({
    command: await needProgram(
      {
        program: 'redis-server',
        packages: ['redis-server'],
        advice: 'Install Redis (Debian: apt-get install redis-server).',
      },
      say,
    ),
    args: [
      ...['--bind', HOST, '--port', String(ports[0]), '--dir', dataFolder],
      ...['--appendonly', 'yes', '--save', '', '--maxmemory', '256mb', '--maxmemory-policy', 'noeviction'],
    ],
  }),
  probe: ({ ports }) => redisAnswers(ports[0] ?? 0),
  environment: ({ ports }) => ({ REDIS_URL: `redis://${HOST}:${ports[0]}` }),
};
