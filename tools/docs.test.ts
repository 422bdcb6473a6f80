import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFolder } from '@bindery/importer';
import { describe, expect, test } from '@jest/globals';
import { configurationPage, processesPage, withConfiguration, withProcesses } from './docs.ts';
import { eventOwners, eventPageText, storedEventPage } from './event-pages.ts';
import { permissionsPage, withPermissions } from './permissions.ts';

const docs = fileURLToPath(new URL('../docs', import.meta.url));

describe('the documentation', () => {
  test('names every setting as the schema has it (npm run docs)', () => {
    const page = readFileSync(configurationPage, 'utf8');
    expect(page).toContain('`DATA_DIR`');
    expect(withConfiguration(page)).toBe(page);
  });

  test('names every setting of each process as its schema has it (npm run docs)', () => {
    const page = readFileSync(processesPage, 'utf8');
    expect(page).toContain('`EVENTSTORE_URL`');
    expect(withProcesses(page)).toBe(page);
  });

  test('names the permission of every operation as the contract has it (npm run docs)', () => {
    const page = readFileSync(permissionsPage, 'utf8');
    expect(page).toContain('`getSpaceById`');
    expect(withPermissions(page)).toBe(page);
  });

  test('has every public event as the catalogue has it (npm run docs)', () => {
    expect(eventOwners).toContain('content');
    for (const owner of eventOwners) expect(storedEventPage(owner)).toBe(eventPageText(owner));
  });

  test('can be imported: every page is in the summary, every relative link leads somewhere', async () => {
    const plan = await readFolder(docs);
    expect(plan.warnings).toEqual([]);
    // Decisions are reached from their table; every other page is in the summary.
    expect(plan.pages.filter((page) => page.hidden && !page.path?.startsWith('adr/')).map((page) => page.path)).toEqual(
      [],
    );
    const paths = new Set(plan.pages.map((page) => page.path));
    const broken: string[] = [];
    for (const { path } of plan.pages) {
      if (path === undefined) continue;
      const text = readFileSync(join(docs, path), 'utf8').replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '');
      for (const [, href = ''] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^[a-z]+:/.test(href)) continue;
        const target = posix.normalize(posix.join(dirname(path), href));
        if (!paths.has(target)) broken.push(`${path} -> ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });
});
