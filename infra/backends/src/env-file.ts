import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A shell reads it with `set -a; . .backends/env; set +a`. */
export const formatEnv = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'\n`)
    .join('');

/** The reverse of {@link formatEnv}. @throws Error on a line that it did not write */
export const parseEnv = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const match = /^([A-Z][A-Z0-9_]*)='(.*)'$/.exec(line);
        if (match === null) throw new Error(`not a variable: ${line}`);
        return [match[1] ?? '', (match[2] ?? '').replaceAll("'\\''", "'")];
      }),
  );

const envFile = (folder: string): string => join(folder, 'env');

/** Writes the variables of a state folder's back ends to its file `env`. */
export const writeEnv = (folder: string, variables: Readonly<Record<string, string>>): Promise<void> =>
  writeFile(envFile(folder), formatEnv(variables));

/** The variables of the back ends that were started last; none when there is no such file. */
export const readEnv = async (folder: string): Promise<Record<string, string>> =>
  existsSync(envFile(folder)) ? parseEnv(await readFile(envFile(folder), 'utf8')) : {};
