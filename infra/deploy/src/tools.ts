import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { outcomeOf, run } from './run.ts';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url));
const sourceOf = (folder: string): string => fileURLToPath(new URL(`../${folder}`, import.meta.url));

/** Where tools and schemas are kept between runs: `DEPLOY_CHECK_CACHE`, else `~/.cache/bindery-deploy`. */
export const cacheFolder = (): string => process.env.DEPLOY_CHECK_CACHE ?? join(homedir(), '.cache', 'bindery-deploy');

/** Programs that check the deployment files, built from the versions that infra/deploy/tools/go.mod names. */
export interface Tools {
  readonly kustomize: string;
  readonly kubeconform: string;
  /** BuildKit's reader and linter of Dockerfiles, compose-go's loader; see its `main.go`. */
  readonly deploycheck: string;
}

/** A program that has to be there before the tools can be built. */
export class MissingProgram extends Error {
  override readonly name = 'MissingProgram';
}

/** Hash of everything that decides what a folder's files make. */
const hashOf = (folder: string, patterns: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const file of patterns.flatMap((pattern) => globSync(pattern, { cwd: folder })).toSorted())
    hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex').slice(0, 16);
};

/** Makes a folder in the cache unless it is there. It appears whole or not at all. @returns its path */
export const cached = async (name: string, make: (folder: string) => Promise<void>): Promise<string> => {
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    await make(draft);
    // Another run may have been faster: then its folder has the same content.
    if (!existsSync(folder)) renameSync(draft, folder);
    return folder;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};

/** Fails with what to do when there is no Go. */
export const needGo = async (): Promise<void> => {
  const found = await outcomeOf('go', ['version'], { timeoutMs: 20_000 }).catch(() => undefined);
  if (found?.code !== 0)
    throw new MissingProgram('Go 1.26.8 or newer is needed to build the tools that check deployments');
};

/** Builds Go programs into a folder of the cache, at the first call on a machine. @returns the folder */
const built = async (
  name: string,
  source: string,
  packages: readonly string[],
  say: (line: string) => void,
  flags: readonly string[] = [],
): Promise<string> =>
  await cached(`${name}-${hashOf(sourceOf(source), ['go.*', '*.go', '*/*.go'])}`, async (target) => {
    await needGo();
    say(`building ${name} (once)`);
    await run('go', ['build', '-trimpath', ...flags, '-o', `${target}/`, ...packages], {
      cwd: sourceOf(source),
      env: { CGO_ENABLED: '0' },
      timeoutMs: 3_600_000,
    });
  });

/** The tools that check images, compose and manifests. @throws MissingProgram when there is no Go */
export const deployTools = async (say: (line: string) => void): Promise<Tools> => {
  const folder = await built('tools', 'tools', ['tool', './deploycheck'], say);
  const program = (name: string): string => join(folder, name);
  return { kustomize: program('kustomize'), kubeconform: program('kubeconform'), deploycheck: program('deploycheck') };
};

/** Prometheus' own loaders, engine and parser; see its `main.go`. @throws MissingProgram when there is no Go */
export const promcheckTool = async (say: (line: string) => void): Promise<string> =>
  join(await built('promcheck', 'promcheck', ['.'], say), 'promcheck');

/** The collector with the components of our configuration. @throws MissingProgram when there is no Go */
export const collectorTool = async (say: (line: string) => void): Promise<string> =>
  join(await built('collector', 'collector', ['.'], say), 'collector');

/** An API server of Kubernetes with its store. Its build takes longest. @throws MissingProgram when there is no Go */
export const apiServerTool = async (say: (line: string) => void): Promise<string> =>
  // Compiled quickly rather than well: it answers some hundred requests in its life.
  join(
    await built('apiserver', 'apiserver', ['.'], say, ['-gcflags=k8s.io/kubernetes/...=-N -l', '-ldflags=-s -w']),
    'apiserver',
  );
