import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { processes } from '@bindery/deploy/settings';
import { configTable } from '@bindery/service-kit';
import { settings } from '@bindery/standalone';
import { writeEventPages } from './event-pages.ts';
import { permissionsPage, writePermissions } from './permissions.ts';

/** The page with the configuration table between its markers. */
export const withConfiguration = (page: string): string =>
  page.replace(
    /<!-- configuration -->[\s\S]*<!-- \/configuration -->/,
    `<!-- configuration -->\n\n${configTable(settings)}\n\n<!-- /configuration -->`,
  );

/** The page with a table for each process of the distributed profile between its markers. */
export const withProcesses = (page: string): string =>
  page.replace(
    /<!-- processes -->[\s\S]*<!-- \/processes -->/,
    () =>
      `<!-- processes -->\n\n${Object.entries(processes)
        .map(([name, schema]) => `## ${name}\n\n${configTable(schema)}\n\n`)
        .join('')}<!-- /processes -->`,
  );

/** Where the tables of the processes stand. */
export const processesPage = fileURLToPath(
  new URL('../docs/operations/configuration-of-processes.md', import.meta.url),
);

/** Where the table of settings stands. */
export const configurationPage = fileURLToPath(new URL('../docs/operations/configuration.md', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(configurationPage, withConfiguration(readFileSync(configurationPage, 'utf8')));
  writeFileSync(processesPage, withProcesses(readFileSync(processesPage, 'utf8')));
  writePermissions();
  writeEventPages();
  console.log(`${configurationPage}, ${processesPage} and ${permissionsPage} are current`);
}
