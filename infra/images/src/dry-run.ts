/**
 * Builds the image of a service without a container engine and starts its process from the result:
 *
 *   npm run images:dry-run -- [service ...] [--keep]
 *
 * As another user than the owner of the files when it may, which is a read-only file system for the process. The process is
 * not given its back ends: it must get as far as to say which settings are missing, with every module loaded. That of the
 * embedded profile needs none, so it must become ready, answer the health check and end at SIGTERM.
 */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { outcomeOf, run } from '@bindery/deploy/run';
import { deployTools, root } from '@bindery/deploy/tools';
import { buildByHand, fileOf, type Materialised } from './build-by-hand.ts';
import { stagesOf } from './dockerfile.ts';
import { makeReadable } from './readable.ts';

const asRoot = process.getuid?.() === 0;
/** Longest time to readiness of the embedded profile, in ms. Its first start imports the documentation. */
const readyWithinMs = 120_000;
/** In ms; the grace period of the deployments is longer. */
const endWithinMs = 30_000;

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
};

interface Started {
  readonly image: Materialised;
  readonly node: string;
  readonly environment: Record<string, string>;
  readonly identity: { readonly uid: number; readonly gid: number } | Record<string, never>;
}

const prepare = async (image: Materialised, scratch: string): Promise<Started> => {
  const [uid = 10_001, gid = uid] = image.user.split(':').map(Number);
  if (!(uid > 0)) throw new Error(`the image runs as '${image.user}', not as a numbered user other than root`);
  const data = join(image.root, image.environment.DATA_DIR ?? '');
  // What npm installed, whatever the umask here; in an image it is that of the base.
  makeReadable(image.root);
  for (const folder of [data, scratch]) {
    mkdirSync(folder, { recursive: true });
    if (asRoot) chownSync(folder, uid, gid);
  }
  return {
    image,
    node: process.execPath,
    identity: asRoot ? { uid, gid } : {},
    environment: {
      ...image.environment,
      PATH: dirname(process.execPath),
      HOST: '127.0.0.1',
      PORT: String(await freePort()),
      DATA_DIR: data,
      TMPDIR: scratch,
    },
  };
};

/** Without its settings a process says which are missing; anything else means that a file is. */
const mustAskForSettings = async ({ image, node, environment, identity }: Started): Promise<void> => {
  const child = spawn(node, image.command.slice(1), {
    cwd: join(image.root, image.workingDirectory),
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
    ...identity,
  });
  let text = '';
  for await (const chunk of child.stderr) text = (text + chunk).slice(-20_000);
  if (!/Configuration: .*is required/.test(text)) throw new Error(`the process did not ask for its settings:\n${text}`);
};

const mustServe = async ({ image, node, environment, identity }: Started): Promise<void> => {
  const cwd = join(image.root, image.workingDirectory);
  const child = spawn(node, image.command.slice(1), {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-20_000);
    });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  try {
    const until = performance.now() + readyWithinMs;
    const ready = async (): Promise<boolean> =>
      (await fetch(`http://127.0.0.1:${environment.PORT}/readyz`).catch(() => undefined))?.ok === true;
    while (!(await ready())) {
      if (child.exitCode !== null || performance.now() > until) throw new Error(`not ready:\n${text}`);
      await delay(200);
    }
    const health = await outcomeOf(node, image.healthCheck.slice(1), { cwd, env: environment, timeoutMs: 10_000 });
    if (health.code !== 0) throw new Error(`the health check says ${health.code}: ${health.stderr}`);
    child.kill('SIGTERM');
    const code = await Promise.race([ended, delay(endWithinMs, 'late', { ref: false })]);
    if (code !== 0) throw new Error(`after SIGTERM: ${code}\n${text}`);
  } finally {
    child.kill('SIGKILL');
  }
};

/** Builds and starts one image. @throws Error when anything is missing in it */
export const dryRun = async (service: string, target: string, say: (line: string) => void): Promise<void> => {
  const { deploycheck } = await deployTools(say);
  const buildArgs = { SERVICE: service };
  const stages = await stagesOf(deploycheck, join(root, 'Dockerfile'), buildArgs);
  const files: string[] = JSON.parse(await run(deploycheck, ['context', root, join(root, '.dockerignore')]));
  const image = await buildByHand({
    ...{ stages, buildArgs, target, say, nodeBin: dirname(process.execPath) },
    context: { folder: root, files },
  });
  const bill = JSON.parse(fileOf(image, 'sbom.cdx.json') ?? 'null');
  if (!(bill?.components?.length > 10)) throw new Error('the image has no bill of materials');
  const left = ['build', 'infra', 'package-lock.json'].filter((name) => fileOf(image, name) !== undefined);
  if (left.length > 0) throw new Error(`the image has what only the build needs: ${left.join(', ')}`);
  const started = await prepare(image, join(target, 'scratch'));
  await mustAskOrServe(service, started);
  const { stdout } = await outcomeOf('du', ['-sm', image.root]);
  say(
    `${service}: ${bill.components.length} packages, ${stdout.split('\t')[0]} MB beside the base image, starts${asRoot ? ` as user ${image.user} on files of another` : ''}`,
  );
};

const mustAskOrServe = (service: string, started: Started): Promise<void> =>
  service === 'standalone' ? mustServe(started) : mustAskForSettings(started);

const services = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const keep = process.argv.includes('--keep');
for (const service of services.length > 0 ? services : readdirSync(join(root, 'services'))) {
  const target = mkdtempSync(join(tmpdir(), `bindery-image-${service}-`));
  chmodSync(target, 0o755);
  try {
    await dryRun(service, target, console.log);
  } finally {
    if (keep) console.log(`kept: ${target}`);
    else rmSync(target, { recursive: true, force: true });
  }
}
