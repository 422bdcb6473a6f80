import { ConfigError } from '@bindery/service-kit';
import { DataDirectoryInUse } from './adapters/data-lock.ts';
import type { Embedded } from './compose.ts';
import { readSettings } from './config.ts';
import { createEmbedded } from './embedded.ts';
import { importWithImporter } from './import-docs.ts';
import { welcome } from './welcome.ts';

/** Longest orderly end, in ms; below the grace period of supervisors (30 s in Kubernetes). */
const stopWithinMs = 25_000;
const { stdout, stderr } = process;

/** Errors that an operator can do something about: their message is enough. */
const isExpected = (error: unknown): error is Error =>
  error instanceof ConfigError ||
  error instanceof DataDirectoryInUse ||
  ['EADDRINUSE', 'EACCES', 'identity.wrong_master_key', 'identity.keys_missing', 'read_store.unusable'].includes(
    String(Object(error).code),
  );

let instance: Embedded | undefined;
const sameSignalMs = 500;
let ending = false;
let endingAt = 0;

const end = async (reason: string, exitCode: number): Promise<void> => {
  // A second signal: whoever sends it does not want to wait. Right after the first it is the same one: a terminal sends it to
  // all processes in front, and npm passes its own on.
  if (ending && performance.now() - endingAt < sameSignalMs) return;
  if (ending) process.exit(1);
  ending = true;
  endingAt = performance.now();
  instance?.logger.info('ending', { reason });
  setTimeout(() => process.exit(1), stopWithinMs).unref();
  const late = (await instance?.stop()) ?? [];
  process.exit(late.length > 0 ? 1 : exitCode);
};

const fail = (kind: string) => (error: unknown) => {
  if (instance === undefined) stderr.write(`${kind}: ${String(Object(error).stack ?? error)}\n`);
  else instance.logger.error(kind, { error });
  // The state of the process is unknown: a supervisor starts a new one (PITFALLS 47).
  process.exit(1);
};

/** Runs the embedded profile until a signal ends it. */
export const run = async (): Promise<void> => {
  process.on('SIGTERM', () => void end('SIGTERM', 0));
  process.on('SIGINT', () => void end('SIGINT', 0));
  process.on('unhandledRejection', fail('unhandled rejection'));
  process.on('uncaughtException', fail('uncaught exception'));
  try {
    instance = await createEmbedded(readSettings(process.env), { importDocs: importWithImporter });
    const { address, token, signInLink, tokenFile, first, logger } = instance;
    if (first && token !== undefined) stdout.write(`\n${welcome({ address, token, signInLink, tokenFile })}\n`);
    logger.info('ready', { address, startedMs: Math.round(performance.now()) });
  } catch (error) {
    stderr.write(`bindery: ${isExpected(error) ? error.message : String(Object(error).stack ?? error)}\n`);
    process.exit(1);
  }
};
