import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  ApiError,
  createClient,
  ImportFailed,
  type ImportProgress,
  importFolder,
  readFolder,
  Unreachable,
  UnusableFolder,
} from '@bindery/importer';

const usage = `npm run import -- <folder> [options]

Imports a folder of markdown in the hosted service's git format (SUMMARY.md, pages, images) as one merged change request.
Run it again after an interruption: within 24 hours it goes on where it stopped.

  --title TEXT         title of the space (default: the first page's)
  --organization ID    organization to import into (default: the first in which you may create spaces)
  --url URL            address of the instance (default: BINDERY_URL, else http://127.0.0.1:3000)
  --token-file FILE    file that holds the token (default: BINDERY_TOKEN, else the local instance's own file)
  --again              import once more although the same folder was imported within the last 24 hours
  --help`;

class UsageError extends Error {}

const readToken = (file: string | undefined): string => {
  const fromEnvironment = process.env.BINDERY_TOKEN;
  if (file === undefined && fromEnvironment) return fromEnvironment;
  const path = file ?? join(process.env.DATA_DIR ?? 'data', 'admin-token');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new UsageError(`no token: set BINDERY_TOKEN, or start the instance first so that ${path} exists`, { cause });
  }
};

const labels: Readonly<Record<ImportProgress['step'], string>> = {
  space: 'Creating the space',
  files: 'Uploading files',
  structure: 'Laying out pages',
  pages: 'Writing pages',
  merge: 'Merging',
  done: 'Done',
};

/** One line that is redrawn on a terminal, a line a step elsewhere. */
const showProgress = (): ((progress: ImportProgress) => void) => {
  const terminal = process.stderr.isTTY;
  let lastStep = '';
  return ({ step, done, total }) => {
    if (terminal) {
      const filled = total === 0 ? 0 : Math.round((done / total) * 24);
      process.stderr.write(
        `\r\x1b[K${labels[step].padEnd(20)} [${'#'.repeat(filled)}${'.'.repeat(24 - filled)}] ${done}/${total}${step === 'done' ? '\n' : ''}`,
      );
    } else if (step !== lastStep) process.stderr.write(`${labels[step]}\n`);
    lastStep = step;
  };
};

const run = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      title: { type: 'string' },
      organization: { type: 'string' },
      url: { type: 'string' },
      'token-file': { type: 'string' },
      again: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return void console.log(usage);
  const [folder, ...rest] = positionals;
  if (folder === undefined || rest.length > 0) throw new UsageError(`which folder?\n\n${usage}`);
  const url = values.url ?? process.env.BINDERY_URL ?? `http://127.0.0.1:${process.env.PORT ?? 3000}`;
  const plan = await readFolder(resolve(folder), values.title);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted; run the same command again to go on')));
  const result = await importFolder({
    client: createClient({ url, token: readToken(values['token-file']), signal: interrupted.signal }),
    plan,
    ...(values.organization === undefined ? {} : { organization: values.organization }),
    ...(values.again ? { nonce: new Date().toISOString() } : {}),
    onProgress: showProgress(),
  });
  for (const warning of plan.warnings) console.error(`note: ${warning}`);
  console.log(
    `${result.pages} pages and ${result.files} files are in space ${result.space} (${url}/v1/spaces/${result.space})`,
  );
};

try {
  await run();
} catch (error) {
  const told =
    error instanceof ApiError ||
    error instanceof Unreachable ||
    error instanceof ImportFailed ||
    error instanceof UnusableFolder ||
    error instanceof UsageError;
  const code = (error as { code?: unknown }).code;
  if (!told && !(typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS'))) throw error;
  console.error(`\nimport: ${(error as Error).message}`);
  process.exitCode = 1;
}
