import { existsSync } from 'node:fs';
import { test } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';

const usualPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
];

/** A Chromium of this machine: CHROMIUM_PATH, else where systems put it. */
export const browserPath = [process.env.CHROMIUM_PATH ?? '', ...usualPaths].find(
  (path) => path !== '' && existsSync(path),
);

/** A test in a real browser; says loudly that it skips where there is none. */
export const testWithBrowser = (...given: Parameters<typeof test>): void =>
  (browserPath === undefined ? test.skip : test)(...given);
if (browserPath === undefined)
  process.stderr.write('\nSKIPPED: the tests in a real browser. Install chromium, or set CHROMIUM_PATH.\n\n');

/** Starts the browser. @throws Error when there is none */
export const openBrowser = (): Promise<Browser> => {
  if (browserPath === undefined) throw new Error('no browser');
  // Without a sandbox of its own, which containers do not allow; it only opens pages of this test.
  return chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
};
