import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Workspace, workspacesOf } from './workspaces.ts';

type Fields = Readonly<Record<string, unknown>>;

const withoutFields = (manifest: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(manifest).filter(([name]) => !names.includes(name)));
/** What only work on the repository needs; and its own Node, for an image has one. */
const ofTheRepository = ['devDependencies', 'optionalDependencies', 'scripts', 'workspaces'];

/**
 * The manifests and the lock file of a part of the repository, for `npm ci`. With those of the whole it would install more:
 * what is a tool for one package and a dependency of another counts as needed by both.
 * @returns content by path, relative to the root
 */
export const manifestsFor = (root: string, used: readonly Workspace[]): ReadonlyMap<string, Fields> => {
  const read = (file: string): Fields => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const workspaces = used.map(({ folder }) => folder);
  const inUse = new Set(workspaces);
  const ours = new Set(workspacesOf(root).map(({ folder }) => folder));
  const asRoot = (manifest: Fields): Fields => ({ ...withoutFields(manifest, ofTheRepository), workspaces });
  const asPart = (manifest: Fields): Fields => withoutFields(manifest, ['devDependencies']);

  const lock = read('package-lock.json');
  const locked = Object.entries(lock.packages ?? {}).flatMap(([path, entry]: [string, Fields]): [string, Fields][] => {
    if (path === '') return [[path, asRoot(entry)]];
    if (ours.has(path)) return inUse.has(path) ? [[path, asPart(entry)]] : [];
    // The link to a workspace. What nothing asks for any more npm leaves out by itself.
    return entry.link === true && !inUse.has(String(entry.resolved)) ? [] : [[path, entry]];
  });
  return new Map<string, Fields>([
    ['package.json', asRoot(read('package.json'))],
    ['package-lock.json', { ...lock, packages: Object.fromEntries(locked) }],
    ...workspaces.map((folder): [string, Fields] => [`${folder}/package.json`, asPart(read(`${folder}/package.json`))]),
  ]);
};
