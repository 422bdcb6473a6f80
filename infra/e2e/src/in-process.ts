import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbedded, type Embedded, readSettings } from '@bindery/standalone';
import { ok, type Target } from './support.ts';

/** The whole product in the process of the test, on a folder of its own. */
export interface InProcess extends Target {
  readonly folder: string;
  readonly instance: Embedded;
  /** Stops it and starts it again on the same folder. */
  restart(): Promise<InProcess>;
  /** Stops it; the folder stays. */
  stop(): Promise<void>;
  /** Stops it and removes the folder. */
  remove(): Promise<void>;
}

const bootstrapToken = 'bnd_pat_0123456789012345678901234567890123456789';

/** Starts the product through its real gateway. */
export const startInProcess = async (
  env: Readonly<Record<string, string>> = {},
  folder = mkdtempSync(join(tmpdir(), 'bindery-e2e-')),
): Promise<InProcess> => {
  const instance = await createEmbedded(
    readSettings({
      DATA_DIR: folder,
      PORT: '0',
      LOG_LEVEL: 'error',
      IMPORT_DOCS: 'false',
      RATE_LIMIT_PER_MINUTE: '0',
      FAILED_AUTHENTICATION_PER_MINUTE: '0',
      BINDERY_BOOTSTRAP_TOKEN: bootstrapToken,
      ...env,
    }),
  );
  const stop = async (): Promise<void> => {
    await instance.stop();
  };
  return {
    url: instance.address.replace('localhost', '127.0.0.1'),
    token: bootstrapToken,
    folder,
    instance,
    stop,
    async restart() {
      await stop();
      return startInProcess(env, folder);
    },
    async remove() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** All files below a folder. */
export const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

/** A user who can call. */
export interface Person extends Target {
  readonly id: string;
}

/** Registers somebody with a token; `admin` administers the instance. */
export const register = async (admin: Target, name: string, email = `${name}@example.com`): Promise<Person> => {
  const { id } = await ok<{ id: string }>(admin, 'POST', '/admin/v1/users', { email, displayName: name });
  const { token } = await ok<{ token: string }>(admin, 'POST', `/admin/v1/users/${id}/tokens`, {});
  return { url: admin.url, token, id };
};
