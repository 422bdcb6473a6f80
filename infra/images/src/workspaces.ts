import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A package of this repository. */
export interface Workspace {
  readonly name: string;
  /** Relative to the root. */
  readonly folder: string;
  readonly dependencies: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly workspaces?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
}

const manifestAt = (file: string): Manifest => JSON.parse(readFileSync(file, 'utf8'));

/** The packages that the manifest of the root names. */
export const workspacesOf = (root: string): readonly Workspace[] =>
  (manifestAt(join(root, 'package.json')).workspaces ?? [])
    .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
    .map((file) => {
      const { name, dependencies = {} } = manifestAt(join(root, file));
      return { name, folder: dirname(file), dependencies: Object.keys(dependencies) };
    });

/**
 * A service and every package of this repository that it uses at run time, sorted by folder.
 * @throws Error when there is no such service
 */
export const closureOf = (root: string, service: string): readonly Workspace[] => {
  const all = new Map(workspacesOf(root).map((workspace) => [workspace.name, workspace]));
  const first = all.get(`@bindery/${service}`);
  if (!first?.folder.startsWith('services/') || !existsSync(join(root, first.folder, 'src/main.ts')))
    throw new Error(`there is no service '${service}' with a src/main.ts`);
  const found = new Map([[first.name, first]]);
  // A Map is walked in the order of insertion, also over what is added on the way.
  for (const { dependencies } of found.values())
    for (const name of dependencies) {
      const workspace = all.get(name);
      if (workspace) found.set(name, workspace);
    }
  return [...found.values()].toSorted((a, b) => a.folder.localeCompare(b.folder));
};
