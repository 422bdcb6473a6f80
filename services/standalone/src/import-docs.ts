import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@bindery/telemetry';
import { writePrivateFile } from './private-file.ts';

/** Imports a folder of documentation through the public API of the instance that has just started. */
export type ImportDocs = (target: {
  readonly url: string;
  readonly token: string;
  readonly folder: string;
  readonly title: string;
  readonly signal: AbortSignal;
}) => Promise<void>;

/** The documentation of this repository. */
export const docsFolder = fileURLToPath(new URL('../../../docs', import.meta.url));
const title = 'Bindery documentation';

const pendingFile = (dataDir: string): string => join(dataDir, 'docs-import-pending');

/** Notes that the documentation is to be imported, before the first start ends: a kill in between must not lose it. */
export const wantDocs = (dataDir: string): void => writePrivateFile(pendingFile(dataDir), '');

/**
 * Imports the documentation when a first start wanted it. What fails is reported and not tried again at every start; what
 * was interrupted is taken up by the next one.
 */
export const importWantedDocs = async (
  importDocs: ImportDocs,
  target: { readonly dataDir: string; readonly url: string; readonly token: string; readonly signal: AbortSignal },
  logger: Logger,
): Promise<void> => {
  const pending = pendingFile(target.dataDir);
  if (!existsSync(pending) || !existsSync(docsFolder)) return;
  const { url, token, signal } = target;
  try {
    await importDocs({ url, token, folder: docsFolder, title, signal });
    logger.info('the documentation is imported', { title });
  } catch (error) {
    if (signal.aborted) return;
    logger.warn('the documentation could not be imported', { error });
  }
  rmSync(pending, { force: true });
};

/** The importer as it is on the command line; loaded only when there is something to import. */
export const importWithImporter: ImportDocs = async ({ url, token, folder, title: spaceTitle, signal }) => {
  const { createClient, importFolder, readFolder } = await import('@bindery/importer');
  const plan = await readFolder(folder, spaceTitle);
  await importFolder({ client: createClient({ url, token, signal }), plan, onProgress: () => undefined });
};
