import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, parseMasterKey } from '@bindery/service-kit';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DataDirectoryInUse, lockDataDirectory } from './adapters/data-lock.ts';
import { readSettings } from './config.ts';
import { adminToken } from './first-start.ts';
import { masterKeyOf } from './master-key.ts';
import { writePrivateFile } from './private-file.ts';
import { newFolder } from './testing.ts';
import { welcome } from './welcome.ts';

let folder: string;
beforeEach(async () => {
  folder = await newFolder();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('the lock on the data directory', () => {
  test('is held once, and free again after release', () => {
    const path = join(folder, 'data');
    const lock = lockDataDirectory(path);
    expect(() => lockDataDirectory(path)).toThrow(DataDirectoryInUse);
    lock.release();
    lock.release();
    lockDataDirectory(path).release();
  });

  test('tells what is wrong when the directory is no directory', async () => {
    const path = join(folder, 'file');
    await writeFile(path, '');
    expect(() => lockDataDirectory(path)).toThrow(/EEXIST|ENOTDIR/);
  });
});

describe('the master key', () => {
  test('is made once, for the eyes of its owner only', async () => {
    const made = masterKeyOf(folder, undefined);
    expect(made).toHaveLength(32);
    expect(masterKeyOf(folder, undefined)).toEqual(made);
    expect(await modeOf(join(folder, 'master.key'))).toBe(0o600);
  });

  test('comes from the configuration in either spelling', async () => {
    const bytes = new Uint8Array(32).fill(171);
    for (const text of [
      'ab'.repeat(32),
      Buffer.from(bytes).toString('base64'),
      Buffer.from(bytes).toString('base64url'),
    ])
      expect(masterKeyOf(folder, text)).toEqual(bytes);
    expect(() => parseMasterKey('ab'.repeat(31))).toThrow(RangeError);
    await writeFile(join(folder, 'master.key'), 'not a key');
    expect(() => masterKeyOf(folder, undefined)).toThrow(RangeError);
  });
});

describe('private files', () => {
  test('replace what was there, and stay private', async () => {
    const path = join(folder, 'secret');
    await writeFile(path, 'old');
    await chmod(path, 0o644);
    writePrivateFile(path, 'new');
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await modeOf(path)).toBe(0o600);
  });

  test('hold the token of the administrator: the configured one, else what was left, else a new one', () => {
    const path = join(folder, 'admin-token');
    const made = adminToken(path, undefined);
    expect(made).toMatch(/^bnd_pat_[0-9A-Za-z]{40}$/);
    expect(adminToken(path, undefined)).toBe(made);
    expect(adminToken(path, 'configured-token-of-the-operator')).toBe('configured-token-of-the-operator');
    expect(adminToken(path, undefined)).toBe('configured-token-of-the-operator');
  });
});

describe('settings', () => {
  test('have defaults for everything', () => {
    expect(readSettings({})).toMatchObject({ PORT: 3000, HOST: '127.0.0.1', DATA_DIR: './data', IMPORT_DOCS: true });
  });

  test('that are wrong are named all at once, and secrets are not repeated', () => {
    const env = {
      PORT: '70000',
      MASTER_KEY: 'too-short-secret',
      BINDERY_BOOTSTRAP_TOKEN: 'short',
      BINDERY_BOOTSTRAP_EMAIL: 'nobody',
      LOG_LEVEL: 'loud',
      PUBLIC_URL: 'ftp://example.org',
    };
    let refusal: unknown;
    try {
      readSettings(env);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(ConfigError);
    const { message } = refusal as Error;
    for (const name of Object.keys(env)) expect(message).toContain(name);
    expect(message).not.toContain('too-short-secret');
  });
});

test('the welcome is a frame with address and token', () => {
  const text = welcome({ address: 'http://localhost:3000', token: 'the-token', tokenFile: 'data/admin-token' });
  const lines = text.trimEnd().split('\n');
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  expect(text).toContain('the-token');
  expect(text).toContain('http://localhost:3000');
});
