import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configTable } from '@bindery/service-kit';
import { settings } from '@bindery/standalone';
import { permissionsPage, writePermissions } from './permissions.ts';

/** The page with the configuration table between its markers. */
export const withConfiguration = (page: string): string =>
  page.replace(
    /<!-- configuration -->[\s\S]*<!-- \/configuration -->/,
    `<!-- configuration -->\n\n${configTable(settings)}\n\n<!-- /configuration -->`,
  );

/** Where the table of settings stands. */
export const configurationPage = fileURLToPath(new URL('../docs/operations/configuration.md', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(configurationPage, withConfiguration(readFileSync(configurationPage, 'utf8')));
  writePermissions();
  console.log(`${configurationPage} and ${permissionsPage} are current`);
}
