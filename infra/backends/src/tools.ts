import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A program that a back end needs is not on this machine and could not be installed by this command. */
export class MissingTool extends Error {
  override readonly name = 'MissingTool';
}

export type Say = (line: string) => void;

/**
 * Where downloaded servers are kept: `BACKENDS_CACHE`, else `~/.cache/bindery-backends`. Outside the state folder, so
 * that removing the state costs no download.
 */
export const cacheFolder = (): string => process.env.BACKENDS_CACHE ?? join(homedir(), '.cache', 'bindery-backends');

/** Where a program is on the PATH, or undefined. */
export const findProgram = (name: string): string | undefined => {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
};

/** Characters of a program's standard output that are kept. */
const MAX_OUTPUT = 100_000;

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** It is ended after so long, in ms. Default 10 minutes. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end. @returns its standard output. @throws Error with the end of all its output when it fails */
export const run = async (command: string, args: readonly string[], options: RunOptions = {}): Promise<string> => {
  const child = spawn(command, [...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? 600_000,
  });
  let output = '';
  let all = '';
  const keep = (text: string): void => {
    all = (all + text).slice(-4_000);
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-MAX_OUTPUT);
    keep(text);
  });
  child.stderr.setEncoding('utf8').on('data', keep);
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit, signal) => resolve(exit ?? signal));
  });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${all}`);
  return output;
};

let packageListsAreFresh = false;

/** Installs Debian packages when this is root on Debian; says whether it did. */
const installPackages = async (packages: readonly string[], say: Say): Promise<boolean> => {
  if (process.getuid?.() !== 0 || findProgram('apt-get') === undefined) return false;
  say(`installing ${packages.join(' ')} with apt-get`);
  // RUNLEVEL=1: the packages' own services do not start.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  try {
    if (!packageListsAreFresh) await run('apt-get', ['update'], { env });
    packageListsAreFresh = true;
    await run('apt-get', ['install', '-y', '--no-install-recommends', ...packages], { env });
    return true;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return false;
  }
};

export interface ToolNeed {
  readonly program: string;
  /** Debian packages that bring it; none where Debian's is too old. */
  readonly packages: readonly string[];
  /** What to do where the packages cannot be installed. */
  readonly advice: string;
}

/** The path of a program, installed from Debian's packages where it is absent and this is root. @throws MissingTool */
export const needProgram = async (need: ToolNeed, say: Say): Promise<string> => {
  const found = findProgram(need.program);
  if (found !== undefined) return found;
  if (need.packages.length > 0 && (await installPackages(need.packages, say))) {
    const installed = findProgram(need.program);
    if (installed !== undefined) return installed;
  }
  throw new MissingTool(`${need.program} is not on this machine. ${need.advice}`);
};

/** A folder that a command fills once. It appears complete or not at all, whoever else is filling it. */
export const filledOnce = async (folder: string, fill: (temporary: string) => Promise<void>): Promise<string> => {
  if (existsSync(folder)) return folder;
  const temporary = `${folder}.${process.pid}.${Date.now()}`;
  await mkdir(temporary, { recursive: true });
  try {
    await fill(temporary);
    await rename(temporary, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  return folder;
};

const JAVA: ToolNeed = {
  program: 'java',
  packages: ['openjdk-17-jdk-headless'],
  advice: 'Install a JDK, version 17 or newer (Debian: apt-get install openjdk-17-jdk-headless).',
};
const MAVEN: ToolNeed = {
  program: 'mvn',
  packages: ['maven'],
  advice: 'Install Apache Maven (Debian: apt-get install maven); it brings the jars of the server.',
};
const GO: ToolNeed = {
  program: 'go',
  packages: [],
  advice: 'Install Go, version 1.24 or newer (Debian 12 has an older one): the server is built from its module.',
};

export const needJava = (say: Say): Promise<string> => needProgram(JAVA, say);

const pom = (artifacts: readonly string[]): string => {
  const dependencies = artifacts.map((artifact) => {
    const [group, name, version] = artifact.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>bindery</groupId><artifactId>backends</artifactId><version>1</version>
<dependencies>${dependencies.join('\n')}</dependencies></project>\n`;
};

/**
 * A folder with the jars of Maven artifacts and of all that they need at run time.
 * @param folder name in the cache, with the version in it
 * @param artifacts `group:name:version`
 */
export const mavenJars = async (folder: string, artifacts: readonly string[], say: Say): Promise<string> =>
  await filledOnce(join(cacheFolder(), folder), async (temporary) => {
    const maven = await needProgram(MAVEN, say);
    say(`fetching ${artifacts.join(', ')}`);
    await writeFile(join(temporary, 'pom.xml'), pom(artifacts));
    const goal = ['-B', '-q', 'dependency:copy-dependencies', '-DincludeScope=runtime', '-DoutputDirectory=lib'];
    await run(maven, goal, { cwd: temporary });
  });

export interface GoProgram {
  /** Name in the cache, with the version in it. */
  readonly folder: string;
  readonly module: string;
  readonly version: string;
  /** The package of the command, within the module. */
  readonly command: string;
  /** Files that the module's archive lacks or has wrong, by their path in it. */
  readonly files?: Readonly<Record<string, string>>;
}

const GO_ENVIRONMENT = { GOFLAGS: '', GOTOOLCHAIN: 'local', GOWORK: 'off', CGO_ENABLED: '0' };

/** The path of a program that is built from a Go module's source. @throws MissingTool without Go */
export const goProgram = async (program: GoProgram, say: Say): Promise<string> => {
  const built = await filledOnce(join(cacheFolder(), program.folder), async (temporary) => {
    const go = await needProgram(GO, say);
    say(`building ${program.module} ${program.version} (minutes, the first time)`);
    const source = join(temporary, 'source');
    const module = `${program.module}@v${program.version}`;
    const downloaded = await run(go, ['mod', 'download', '-json', module], { cwd: temporary, env: GO_ENVIRONMENT });
    await cp(JSON.parse(downloaded).Dir, source, { recursive: true });
    // What the module cache holds is read-only.
    await run('chmod', ['-R', 'u+w', source]);
    for (const [path, text] of Object.entries(program.files ?? {})) await writeFile(join(source, path), text);
    await run(go, ['build', '-trimpath', '-ldflags=-s -w', '-o', join(temporary, 'program'), program.command], {
      cwd: source,
      env: GO_ENVIRONMENT,
      timeoutMs: 1_800_000,
    });
    await rm(source, { recursive: true });
  });
  return join(built, 'program');
};
