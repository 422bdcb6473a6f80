import { newTokenSecret } from '@bindery/identity';
import { readPrivateFile, writePrivateFile } from './private-file.ts';

/**
 * The token of the administrator, in a file before it works: a start that is killed finds it there and goes on with it.
 * @param configured takes precedence over what an earlier attempt left
 */
export const adminToken = (path: string, configured: string | undefined): string => {
  const left = readPrivateFile(path);
  if (configured === undefined && left !== undefined && left !== '') return left;
  const token = configured ?? newTokenSecret();
  writePrivateFile(path, `${token}\n`);
  return token;
};
