import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseManifests, type Resource } from './manifests.ts';
import { outcomeOf, run } from './run.ts';
import { root, type Tools } from './tools.ts';

/** The manifests as they were before their last change. */
export interface Previous {
  /** The commit. */
  readonly revision: string;
  /** What each folder of k8s/ that was there made. */
  readonly renderings: ReadonlyMap<string, readonly Resource[]>;
}

/**
 * Renders the manifests of the last commit but one that changed k8s/: what a cluster may have before an upgrade to what is here.
 * @param folders in k8s/
 * @param scratch a folder for them
 * @returns undefined where there is no history, as in an archive of the sources
 */
export const previousManifests = async (
  tools: Tools,
  folders: readonly string[],
  scratch: string,
): Promise<Previous | undefined> => {
  const { stdout } = await outcomeOf('git', ['-C', root, 'log', '-2', '--format=%h', 'HEAD', '--', 'k8s']);
  const [, revision] = stdout.trim().split('\n');
  if (revision === undefined) return undefined;
  const target = join(scratch, 'previous');
  mkdirSync(target);
  await run('git', ['-C', root, 'archive', '-o', join(target, 'k8s.tar'), revision, 'k8s']);
  await run('tar', ['-xf', 'k8s.tar'], { cwd: target });
  const renderings = new Map<string, readonly Resource[]>();
  for (const folder of folders) {
    const { code, stdout: text } = await outcomeOf(tools.kustomize, ['build', join(target, 'k8s', folder)]);
    if (code === 0) renderings.set(folder, parseManifests(text));
  }
  return { revision, renderings };
};
