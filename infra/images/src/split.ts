/**
 * The first step of the Dockerfile, run without any package: splits the context into what decides which packages are
 * installed, what runs, and the tools of the steps between.
 *
 *   node infra/images/src/split.ts <service> <target folder>
 */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { manifestsFor } from './manifests.ts';
import { makeReadable } from './readable.ts';
import { closureOf } from './workspaces.ts';

/** Folders that a service reads beside its packages: the embedded profile imports the documentation at its first start. */
const extraFolders: Readonly<Record<string, readonly string[]>> = { standalone: ['docs'] };
const notRun = /(\.test\.ts|\.testing\.ts|\/testing\.ts|\/node_modules)$/;

/**
 * Fills `manifests`, `sources`, `tools` and `data` in the target folder, readable by everybody.
 * @throws Error when there is no such service
 */
export const split = (root: string, service: string, target: string): void => {
  const copy = (from: string, to: string): void => {
    const destination = join(target, to);
    mkdirSync(dirname(destination), { recursive: true });
    cpSync(join(root, from), destination, { recursive: true, filter: (path) => !notRun.test(path) });
  };
  const used = closureOf(root, service);
  copy('.npmrc', 'manifests/.npmrc');
  for (const [file, content] of manifestsFor(root, used)) {
    mkdirSync(dirname(join(target, 'manifests', file)), { recursive: true });
    writeFileSync(join(target, 'manifests', file), `${JSON.stringify(content, null, 2)}\n`);
  }
  for (const { folder } of used) copy(folder, `sources/${folder}`);
  for (const folder of extraFolders[service] ?? []) copy(folder, `sources/${folder}`);
  copy('LICENSE', 'sources/LICENSE');
  copy('infra/images/src/health.mjs', 'sources/health.mjs');
  // One command for all images; the real path of the file, which modules are resolved from, is that in services/.
  symlinkSync(`services/${service}`, join(target, 'sources/service'));
  copy('infra/images/src/bill-of-materials.ts', 'tools/bill-of-materials.ts');
  mkdirSync(join(target, 'data'), { recursive: true });
  writeFileSync(join(target, 'data/.keep'), '');
  makeReadable(target);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , service, target] = process.argv;
  if (!service || !target) throw new Error('usage: split.ts <service> <target folder>');
  split(process.cwd(), service, resolve(target));
}
