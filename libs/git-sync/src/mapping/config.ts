import { posix } from 'node:path';
import { parse } from 'yaml';
import { fileFailed } from '../errors.ts';

/** What `.gitbook.yaml` says of a space's folder; paths from the root of the repository. */
export interface RepositoryConfig {
  /** Folder of the space, empty for the root. */
  readonly root: string;
  /** First page and table of contents, from `root`. */
  readonly readme: string;
  readonly summary: string;
}

/** Name of the file that configures a space in a repository. */
export const configFile = '.gitbook.yaml';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A folder or file as a plain path from where it is named, without leading or trailing slashes; empty for that place itself.
 * @returns undefined for what leads out of it or is no path
 */
export const plainPath = (text: string): string | undefined => {
  if (/[\\\0]/.test(text) || !text.isWellFormed()) return undefined;
  const path = posix.normalize(`./${text.trim()}`).replace(/\/$/, '');
  if (path === '.' || path === '') return '';
  return path === '..' || path.startsWith('../') ? undefined : path;
};

/**
 * Reads the configuration of a space.
 * @param directory folder of the space's project in the repository, empty for its root
 * @param text of the configuration file in that folder; undefined when there is none
 * @throws GitSyncFailed when it is broken
 */
export const readConfig = (directory: string, text: string | undefined): RepositoryConfig => {
  const file = posix.join(directory, configFile);
  let given: unknown;
  try {
    given = text === undefined ? undefined : parse(text, { maxAliasCount: 0, schema: 'core' });
  } catch (error) {
    throw fileFailed(
      file,
      `is not valid YAML (${error instanceof Error ? error.message.split('\n', 1)[0] : 'unknown'})`,
    );
  }
  if (given !== undefined && given !== null && !isRecord(given)) throw fileFailed(file, 'is not a mapping');
  const config = isRecord(given) ? given : {};
  const structure = isRecord(config.structure) ? config.structure : {};
  const path = (name: string, value: unknown, otherwise: string): string => {
    if (value === undefined || value === null) return otherwise;
    const plain = typeof value === 'string' ? plainPath(value) : undefined;
    if (plain === undefined) throw fileFailed(file, `${name} is not a path inside the repository`);
    return plain;
  };
  return {
    root: posix
      .join(directory, path('root', config.root, ''))
      .replace(/^\.$/, '')
      .replace(/\/$/, ''),
    readme: path('structure.readme', structure.readme, 'README.md'),
    summary: path('structure.summary', structure.summary, 'SUMMARY.md'),
  };
};
